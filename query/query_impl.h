/*
 * What the files of query/query share.
 *
 *	query.c         histograms, by call stack and by raw stack      query_edges.c   spans that an interval cuts
 *	query_slices.c  the timeline                                    query_states.c  how the time of a thread divides
 *	query_wakers.c  who ended which waits                           query_scan.c    selected samples one by one
 *	query_traced.c  operations one by one                           query_tree.c    the store as time trees
 */
#ifndef CTX_QUERY_IMPL_H
#define CTX_QUERY_IMPL_H

#include "query/query.h"

/* The store as a reader of one tree; must outlive the reader. */
struct ctx_tree_place {
	struct ctx_store *store;
	uint32_t tree;
};

struct ctx_timetree_reader ctx_query_tree_reader(struct ctx_tree_place *place);

/* The metrics that a metric consists of: its parts, or itself. `*metric` is borrowed. */
const uint32_t *ctx_query_base_metrics(const struct ctx_profile *profile, const uint32_t *metric,
				       size_t *ret_n);

/* ctx_query_histogram of any metric instead of the selection's. */
CTX_MUST_CHECK enum ctx_status ctx_query_metric_histogram(struct ctx_query *query, uint32_t thread,
							  uint32_t metric,
							  const struct ctx_interval *intervals,
							  size_t n_intervals, struct ctx_histogram *out,
							  struct ctx_err *err);

/*
 * Hands out every selected sample of one metric that has trees in the interval (which lies in one of the selected): of one
 * thread, CTX_NONE: of all. By a scan of sample blocks, in order of time; spans are cut first, those that go on behind the
 * interval come last. Filters see a span as the selection cuts it.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_scan(struct ctx_query *query, uint32_t thread, uint32_t metric,
					      struct ctx_interval interval, ctx_store_sample_fn each,
					      void *context, struct ctx_err *err);

#endif
