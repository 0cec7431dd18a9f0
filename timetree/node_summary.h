/*
 * Converts the histogram of an inner node to its stored form: sorted, cut at P percent, encoded.
 */
#ifndef CTX_TIMETREE_NODE_SUMMARY_H
#define CTX_TIMETREE_NODE_SUMMARY_H

#include "model/timenode.h"
#include "timetree/timenode_codec.h"

struct ctx_node_sort_item; /* node_summary.c */

struct ctx_node_summary {	       /* all zero is valid; reused for each node, keeps its memory */
	struct ctx_hist_item *entries; /* by descending weight; the first n_top are the top */
	size_t n_entries, n_top, entries_cap;
	struct ctx_timenode_calls *calls;
	size_t n_calls, calls_cap;
	struct ctx_node_sort_item *items, *scratch;
	size_t items_cap; /* of both */
	struct ctx_buf top_bytes, tail_bytes, calls_bytes;
	uint64_t tail_weight, tail_samples, tail_largest;
};

void ctx_node_summary_deinit(struct ctx_node_summary *summary);

/* `percent` and `keep_tail` as in struct ctx_timetree_params. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_node_summary_make(struct ctx_node_summary *summary,
						     const struct ctx_histogram *histogram, uint32_t percent,
						     bool keep_tail, struct ctx_err *err);

/* Points the lists of `node` into the summary and fills in its totals; valid until the next
 * make. */
void ctx_node_summary_fill(const struct ctx_node_summary *summary, const struct ctx_histogram *histogram,
			   struct ctx_timenode *node);

#endif
