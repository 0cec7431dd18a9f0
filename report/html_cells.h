/*
 * Cells: all samples of a metric by thread, time bucket and stack, as the HTML page has them.
 *
 * A sample that is a span of time is cut at the borders of buckets: each bucket gets the part inside, and the last one the sample.
 * They can be made fewer: coarser in time (half as many buckets), and without the lightest stacks, whose weight goes to
 * one more stack, `<Other>`.
 */
#ifndef CTX_REPORT_HTML_CELLS_H
#define CTX_REPORT_HTML_CELLS_H

#include "model/export.h"

struct ctx_cell_entry { /* sorted by bucket, then stack */
	uint64_t weight, samples;
	uint32_t bucket;
	uint32_t stack; /* CCT node; CTX_CELLS_OTHER; of states: enum ctx_thread_state */
};

#define CTX_CELLS_OTHER UINT32_MAX /* the stack of what was dropped: sorts behind all others */

struct ctx_thread_cells {
	struct ctx_cell_entry *entries; /* owned */
	size_t n, cap;
};

struct ctx_cells {
	struct ctx_thread_cells *threads; /* owned; by thread id */
	uint32_t n_threads;
	uint32_t buckets;
	uint64_t samples, weight, dropped_weight;
	uint64_t unit_weight; /* the commonest weight of a sample, or near it; 0 of spans */
};

/* Begin of a bucket; that of bucket `buckets` is the end of the run. */
uint64_t ctx_cells_border(uint32_t bucket, uint64_t end_ns, uint32_t buckets);

/* Reads all samples of the input's metric (of a sum: of its parts), thread by thread. O(samples log). Fails with what reading fails with, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_cells_collect(struct ctx_cells *cells,
						 const struct ctx_export_input *input, uint32_t buckets,
						 struct ctx_err *err);

/* How the time of each thread divides among the states, in place of stacks. The profile has states. As above. */
CTX_MUST_CHECK enum ctx_status ctx_cells_collect_states(struct ctx_cells *cells,
							const struct ctx_export_input *input,
							uint32_t buckets, struct ctx_err *err);
void ctx_cells_deinit(struct ctx_cells *cells);

/* Half as many buckets, which must be even. O(entries log). */
void ctx_cells_halve(struct ctx_cells *cells);

/*
 * Keeps the `n` stacks with the largest weight; those of equal weight by the smaller id. `n_stacks`: ids are below it.
 * Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_cells_keep(struct ctx_cells *cells, uint32_t n_stacks, uint32_t n,
					      struct ctx_err *err);

#endif
