/*
 * The processors of this machine, by number.
 */
#ifndef CTX_COLLECT_CPUS_H
#define CTX_COLLECT_CPUS_H

#include "collect/procfs.h"

/* Parses a CPU list of the kernel: "0-3,8". Fails with CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_cpus_parse(const char *text, struct ctx_ids *cpus, struct ctx_err *err);

/* Those that are online; without sysfs, all that are configured. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_cpus_online(struct ctx_ids *cpus, struct ctx_err *err);

#endif
