/*
 * From a selection to histograms: by time tree where the trees index the question, by a scan of the sample
 * blocks of the interval where they do not (processors, addresses).
 *
 * A metric that is a sum of others is asked part by part. Of spans of time an interval gets the part inside: what it cuts is found in the
 * time trees of each thread (query/query_edges.h).
 */
#ifndef CTX_QUERY_QUERY_H
#define CTX_QUERY_QUERY_H

#include "model/report_data.h"
#include "query/selection.h"
#include "store/store.h"
#include "timetree/timetree.h"

struct ctx_span_cache;

struct ctx_query {
	struct ctx_store *store;
	const struct ctx_selection *selection;
	unsigned flags; /* CTX_TIMETREE_* */
	struct ctx_timetree_cost cost;
	uint64_t samples_scanned;     /* for processors, addresses and the states of slices */
	struct ctx_span_cache *spans; /* while many intervals are asked for; else NULL */
	bool asks_operations; /* besides the selection's filters: an index object asks for what only operations have */
	const struct ctx_traced
		*operation; /* while a scan hands out a sample that stands for one; else NULL */
};

/*
 * Adds the weights of one thread (CTX_NONE: of all selected together) in `intervals` to `out`. A thread
 * without samples adds nothing.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_histogram(struct ctx_query *query, uint32_t thread,
						   const struct ctx_interval *intervals, size_t n_intervals,
						   struct ctx_histogram *out, struct ctx_err *err);

/*
 * Adds the weights of all selected threads together by raw stack to `out`, which is empty; calls stay 0. Always exact, and always
 * a scan: the trees know no addresses. A sample without a raw stack adds to the root, 0.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_raw_histogram(struct ctx_query *query, struct ctx_histogram *out,
						       struct ctx_err *err);

/* One part for all selected threads, or one for each that has samples. Owned by the caller
 * (ctx_query_parts_free). */
struct ctx_query_parts {
	struct ctx_report_part *parts;
	struct ctx_histogram *histograms;
	size_t n;
};

CTX_MUST_CHECK enum ctx_status ctx_query_parts(struct ctx_query *query, bool per_thread,
					       struct ctx_query_parts *ret, struct ctx_err *err);
void ctx_query_parts_free(struct ctx_query_parts *parts);

/* Samples and weight of every selected thread in the selection: arrays by thread id, malloc'ed. */
CTX_MUST_CHECK enum ctx_status ctx_query_thread_sums(struct ctx_query *query, uint64_t **ret_samples,
						     uint64_t **ret_weight, struct ctx_err *err);

/*
 * The timeline: `per_thread` slices for all together (first) and for each of the `max_threads` heaviest
 * selected threads, over the hull of the selected intervals; with thread states how each divides, which is a scan. malloc'ed.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_slices(struct ctx_query *query, size_t per_thread,
						size_t max_threads, struct ctx_report_slice **ret,
						size_t *ret_n, struct ctx_err *err);

/*
 * How the selected time of the threads divides into states: those with any, by thread id; spans that are cut count. Only with states.
 * malloc'ed.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_states(struct ctx_query *query, struct ctx_report_states **ret,
						size_t *ret_n, struct ctx_err *err);

/*
 * The waits of the selected threads that lie at least partly in the selected intervals, those that are alike together; the longest
 * first; of ctx_query_wait_states. Processors do not matter: who waits is on none. malloc'ed.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_wakers(struct ctx_query *query, struct ctx_report_wakers **ret,
						size_t *ret_n, struct ctx_err *err);

/* The waits among the states of the selected metrics, of CTX_STATE_BIT. 0: all of them, or none, and then all are wanted too. */
unsigned ctx_query_wait_states(const struct ctx_query *query);

/*
 * The traced operations of a kind in the selection (intervals, threads, processors, filters), in order of time; `ret->items` is malloc'ed, NULL for
 * none. An interval has those that were over in it. Of the heap there is also what others freed, between the intervals too: each as a
 * CTX_HEAP_FREE.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_traced(struct ctx_query *query, enum ctx_traced_kind kind,
						struct ctx_report_traced *ret, struct ctx_err *err);

/* Sums by the value of an expression, in no order. Owned by the caller (ctx_query_index_free). */
struct ctx_query_index {
	int64_t *keys;
	struct ctx_report_sum *sums;   /* n_metrics for each key, as the selection has them */
	struct ctx_report_sum *totals; /* n_metrics */
	size_t n, n_metrics;
};

/* Always a scan. The expression was checked before; CTX_E_LIMIT for too many values. */
CTX_MUST_CHECK enum ctx_status ctx_query_index(struct ctx_query *query, const char *expression,
					       struct ctx_query_index *ret, struct ctx_err *err);
void ctx_query_index_free(struct ctx_query_index *index);

/* What each level of the merged tree of the metric holds. malloc'ed. */
CTX_MUST_CHECK enum ctx_status ctx_query_levels(struct ctx_query *query, struct ctx_report_level **ret,
						size_t *ret_n, struct ctx_err *err);

#endif
