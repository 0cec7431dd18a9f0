/*
 * What the thread that ended waits did meanwhile: where the holder of a lock was, or the producer
 * that consumers wait for.
 */
#ifndef CTX_REPORT_WAIT_DURING_H
#define CTX_REPORT_WAIT_DURING_H

#include "report/wait_table.h"

struct ctx_wait_during {
	uint32_t function; /* of the program, in which the wakers were longest; CTX_NONE: unknown */
	uint64_t ns;	   /* in it, or in what it called, on a CPU or waiting */
	uint64_t waker_ns; /* of all the wakers' time during the waits */
};

/*
 * Of the threads with the name row->waker, while any wait of the row lasts. Scans of the spans of
 * the row's state and of the wakers' states. CTX_OK with CTX_NONE: the waker is no recorded thread.
 */
CTX_MUST_CHECK enum ctx_status ctx_wait_during_find(const struct ctx_wait_table *table,
						    const struct ctx_wait_row *row,
						    struct ctx_report_source *source,
						    struct ctx_wait_during *ret, struct ctx_err *err);

#endif
