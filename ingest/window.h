/*
 * The samples and ended waits of the last while of a recording, in the order in which they came: what
 * an ingest that goes on (live.h) keeps instead of time trees.
 *
 * Memory: 48 bytes a sample of the window, some 100 a traced operation. All zero is an empty window of the whole run.
 */
#ifndef CTX_INGEST_WINDOW_H
#define CTX_INGEST_WINDOW_H

#include "ingest/forest.h"

#define CTX_WINDOW_TRACED_MAX ((size_t)1 << 20)
#define CTX_WINDOW_BEGINS_MAX ((size_t)1 << 12)

struct ctx_window {
	uint64_t begin_ns; /* what ended before is left out */
	struct ctx_sample *samples;
	size_t first_sample, n_samples, samples_cap; /* those from first_sample up to n_samples are kept */
	struct ctx_wakeup *wakeups;
	size_t first_wakeup, n_wakeups, wakeups_cap;
	struct ctx_traced *traced; /* at most CTX_WINDOW_TRACED_MAX of them: the last ones */
	size_t first_traced, n_traced, traced_cap;
	struct ctx_traced *begins; /* of intervals and pauses that began earlier and go on; the last ones */
	size_t n_begins, begins_cap;
	uint64_t n_dropped; /* earlier ones of the window that were too many; their samples are there */
};

void ctx_window_deinit(struct ctx_window *window);

/*
 * Moves the begin, never backwards, and drops what ended before. Begins of intervals that have not ended are kept
 * (struct ctx_traced, CTX_MARK_BEGIN). CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_window_move(struct ctx_window *window, uint64_t begin_ns,
					       struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status ctx_window_add(struct ctx_window *window, const struct ctx_sample *sample,
					      struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_window_add_wakeup(struct ctx_window *window,
						     const struct ctx_wakeup *wakeup, struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status ctx_window_add_traced(struct ctx_window *window,
						     const struct ctx_traced *operation, struct ctx_err *err);

/* Hands everything to the time trees. */
CTX_MUST_CHECK enum ctx_status ctx_window_put(const struct ctx_window *window, struct ctx_tree_forest *trees,
					      struct ctx_err *err);

#endif
