/*
 * Cells: all samples of a metric by thread, time bucket and stack, for the HTML page.
 *
 * A sample that is a span of time is split at the borders of buckets: each bucket gets the part
 * inside, and the last one the sample count. The number of cells can be reduced: coarser in time
 * (half as many buckets), and without some stacks, whose weight goes to one more stack, `<Other>`.
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
	bool spans;	      /* of a metric of spans */
	uint64_t *longest;    /* owned; by stack: its longest span in the run; NULL: no spans */
};

/* Begin of a bucket; that of bucket `buckets` is the end of the run. */
uint64_t ctx_cells_border(uint32_t bucket, uint64_t end_ns, uint32_t buckets);

struct ctx_cells_query {
	const struct ctx_export_input *input;
	uint32_t metric;  /* not a sum */
	bool counts;	  /* each sample weighs 1 */
	uint32_t buckets; /* in the run */
};

/*
 * Reads all samples of a metric, thread by thread. O(samples log). Fails with CTX_E_NOMEM and with
 * what reading fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_cells_collect(struct ctx_cells *cells, const struct ctx_cells_query *query,
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

/* Adds the weight of each stack to `by_stack`, which has room for all their ids. */
void ctx_cells_weigh(const struct ctx_cells *cells, uint64_t *by_stack);

/* Stacks that are not kept (by stack id) become CTX_CELLS_OTHER. */
void ctx_cells_drop(struct ctx_cells *cells, const bool *kept);

#endif
