/*
 * Cells: all samples of a metric by thread, time bucket and stack, as the HTML page has them.
 *
 * They can be made fewer: coarser in time (half as many buckets), and without the lightest stacks, whose weight goes to
 * one more stack, `<Other>`.
 */
#ifndef CTX_REPORT_HTML_CELLS_H
#define CTX_REPORT_HTML_CELLS_H

#include "model/export.h"

struct ctx_cell_entry { /* sorted by bucket, then stack */
	uint64_t weight, samples;
	uint32_t bucket;
	uint32_t stack; /* CCT node; CTX_CELLS_OTHER */
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
	uint64_t unit_weight; /* the commonest weight of a sample, or near it */
};

/* The bucket of a time. */
uint32_t ctx_cells_bucket(uint64_t time_ns, uint64_t end_ns, uint32_t buckets);

/* Reads all samples of the input, thread by thread. O(samples log). Fails with what reading fails with, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_cells_gather(struct ctx_cells *cells, const struct ctx_export_input *input,
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
