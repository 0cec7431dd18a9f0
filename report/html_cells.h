/*
 * Cells: all samples of a metric by thread, time bucket and stack, for the HTML page.
 *
 * A sample that is a span of time is split at the borders of buckets: each bucket gets the part
 * inside, and the last one the sample count. The number of cells can be reduced: coarser in time
 * (half as many buckets), and without the lightest stacks, whose weight goes to one more stack,
 * `<Other>`.
 */
#ifndef CTX_REPORT_HTML_CELLS_H
#define CTX_REPORT_HTML_CELLS_H

#include "model/export.h"

struct ctx_cell_entry { /* sorted by bucket, then stack */
	uint64_t weight, samples;
	uint32_t bucket;
	uint32_t stack; /* CCT node; CTX_CELLS_OTHER; of states: enum ctx_thread_state */
};

#define CTX_CELLS_OTHER UINT32_MAX /* the stack of dropped weight: sorts after all others */

struct ctx_thread_cells {
	struct ctx_cell_entry *entries; /* owned */
	size_t n, cap;
};

struct ctx_cells {
	struct ctx_thread_cells *threads; /* owned; by thread id */
	uint32_t n_threads;
	uint32_t buckets;
	uint64_t samples, weight, dropped_weight;
	uint64_t unit_weight; /* approximately the most common weight of a sample; 0 for spans */
};

/* Begin of a bucket; that of bucket `buckets` is the end of the run. */
uint64_t ctx_cells_border(uint32_t bucket, uint64_t end_ns, uint32_t buckets);

/*
 * Reads all samples of the input's metric (of a sum: of its parts), thread by thread. O(samples
 * log). Fails with CTX_E_NOMEM and with what reading fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_cells_collect(struct ctx_cells *cells,
						 const struct ctx_export_input *input, uint32_t buckets,
						 struct ctx_err *err);

/*
 * Cells of thread states instead of stacks: the time of each thread by state. The profile must have
 * states. Otherwise as above.
 */
CTX_MUST_CHECK enum ctx_status ctx_cells_collect_states(struct ctx_cells *cells,
							const struct ctx_export_input *input,
							uint32_t buckets, struct ctx_err *err);
void ctx_cells_deinit(struct ctx_cells *cells);

/* Half as many buckets, which must be even. O(entries log). */
void ctx_cells_halve(struct ctx_cells *cells);

/*
 * Keeps the `n` stacks with the largest weight; among equal weights those with smaller ids.
 * `n_stacks`: all ids are below it. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_cells_keep(struct ctx_cells *cells, uint32_t n_stacks, uint32_t n,
					      struct ctx_err *err);

#endif
