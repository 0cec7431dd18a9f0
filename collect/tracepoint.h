/*
 * Tracepoints of the running kernel: their numbers and formats
 * (formats/perfevent/pe_tracepoint.h), read from tracefs.
 */
#ifndef CTX_COLLECT_TRACEPOINT_H
#define CTX_COLLECT_TRACEPOINT_H

#include "base/err.h"

#include <stdint.h>

struct ctx_tracepoint {
	uint64_t id;  /* perf_event_attr.config */
	char *format; /* owned */
};

/*
 * Reads `name` ("sched/sched_switch") in the directory of tracefs. CTX_E_NOTFOUND: the kernel does
 * not have this tracepoint; CTX_E_PERM: tracefs is not mounted, or not readable by this user;
 * CTX_E_FORMAT, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_tracepoint_read(const char *tracefs, const char *name,
						   struct ctx_tracepoint *ret, struct ctx_err *err);
void ctx_tracepoint_deinit(struct ctx_tracepoint *tracepoint);

/* The number alone. Fails as ctx_tracepoint_read does. */
CTX_MUST_CHECK enum ctx_status ctx_tracepoint_id(const char *tracefs, const char *name, uint64_t *ret,
						 struct ctx_err *err);

#endif
