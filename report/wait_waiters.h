/*
 * Which threads wait in the waits of a row: how many they are says what share of their time it is.
 */
#ifndef CTX_REPORT_WAIT_WAITERS_H
#define CTX_REPORT_WAIT_WAITERS_H

#include "report/wait_table.h"

struct ctx_wait_waiters {
	bool *is_waiter;  /* by thread; owned; NULL: not known */
	uint32_t n, one;  /* how many; one of them */
	uint64_t wall_ns; /* their time in the selection; the caller fills it in */
};

/* A scan of the spans of the row's state. Call ctx_wait_waiters_deinit in any case. */
CTX_MUST_CHECK enum ctx_status ctx_wait_waiters_find(const struct ctx_wait_table *table,
						     const struct ctx_wait_row *row,
						     struct ctx_report_source *source,
						     struct ctx_wait_waiters *ret, struct ctx_err *err);
void ctx_wait_waiters_deinit(struct ctx_wait_waiters *waiters);

/* Whether one of them has this name. O(threads). */
bool ctx_wait_waiters_have(const struct ctx_wait_waiters *waiters, const struct ctx_profile *profile,
			   const char *name);

#endif
