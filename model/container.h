/*
 * Containers, by the control group of a process: the path tells which runtime started it.
 *
 * Known are the groups of Docker, containerd, CRI-O and Podman (the container's id of 64 hexadecimal
 * digits, bare or as in "docker-<id>.scope"), LXC ("/lxc/NAME", "lxc.payload.NAME") and
 * systemd-nspawn ("machine-NAME.scope").
 */
#ifndef CTX_MODEL_CONTAINER_H
#define CTX_MODEL_CONTAINER_H

#include <stdbool.h>

#define CTX_CONTAINER_NAME 64u

/*
 * The innermost container of a control group: the first twelve digits of its id, as the runtimes
 * print it, or its name (cut to fit). `cgroup` may be NULL. False: none is known; `ret` is "" then.
 */
bool ctx_container_of_cgroup(const char *cgroup, char ret[CTX_CONTAINER_NAME]);

#endif
