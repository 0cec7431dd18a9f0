/*
 * Events that are opened when the program is there: their addresses are known only then.
 */
#ifndef CTX_COLLECT_SESSION_LATE_H
#define CTX_COLLECT_SESSION_LATE_H

#include "collect/session.h"

/*
 * Opens event `event` of the session, which is late (struct ctx_perf_event), at another address, enabled, for a thread and
 * what it starts, on every CPU; exec ends it. Fails with CTX_E_LIMIT (no register is free), CTX_E_NOTFOUND (the thread has
 * ended), CTX_E_PERM, CTX_E_ARG (a kernel before 5.13, an address it does not take), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_session_open_late(struct ctx_session *session, uint32_t event,
						     const struct perf_event_attr *place, int64_t tid,
						     struct ctx_err *err);

/* How often an event has happened, all threads together, by its counters: exact whatever became of the samples. O(events). */
uint64_t ctx_session_count(const struct ctx_session *session, uint32_t event);

#endif
