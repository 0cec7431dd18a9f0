/*
 * What keeps this process from perf events, for messages that name it: the kernel's setting, a capability
 * that does not count here, or a filter in front of the kernel.
 */
#ifndef CTX_COLLECT_PERMISSIONS_H
#define CTX_COLLECT_PERMISSIONS_H

#include <stdbool.h>

/*
 * Whether this is a user namespace (most containers of ordinary users): to perf events and locked memory,
 * its capabilities are none.
 */
bool ctx_permissions_in_user_namespace(void);

/* What helps instead of a setting, as the end of a sentence: "the capability CAP_PERFMON". */
const char *ctx_permissions_capability(void);

/* CAP_IPC_LOCK: the limit on locked memory does not hold for this process. */
bool ctx_permissions_may_lock_memory(void);

/* Whether a seccomp filter refuses perf_event_open, before the kernel has looked at the call. */
bool ctx_permissions_filtered(void);

/* A number from a file of /proc/sys; `otherwise` where it cannot be read. */
int ctx_permissions_setting(const char *path, int otherwise);

/* kernel.perf_event_paranoid; -99: this kernel has no perf events, or there is no /proc. */
int ctx_permissions_paranoid_level(void);

#endif
