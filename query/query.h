/*
 * Query: the results that reports need of a store and a selection: histograms, sums, slices, waits,
 * operations.
 *
 * A histogram is computed from time trees if they index the query, else by a scan of the sample
 * blocks of the interval (processors, filters, addresses). A metric that is a sum of others is
 * queried part by part. An interval counts the part of a span that is inside; spans cut by its ends
 * are found in the time trees of each thread (query/span_edges.h).
 *
 *	histograms.c    by call stack, by raw stack	traced_operations.c  operations one by one
 *	thread_parts.c  the same by thread		selection.h          what is selected
 *	index_sums.c    by the values of keys		sample_scan.h        selected samples one by one
 *	time_slices.c   the timeline			span_edges.h         spans that an interval cuts
 *	tree_levels.c   levels of a time tree		span_cache.h         spans that were looked up
 *	state_sums.c    threads' time by state		tree_reader.h        the store as time trees
 *	waker_sums.c    waits and their wakers
 *
 * A query belongs to one thread. Unless stated otherwise, functions fail with CTX_E_NOMEM and the
 * errors of the store.
 */
#ifndef CTX_QUERY_QUERY_H
#define CTX_QUERY_QUERY_H

#include "base/strtab.h"
#include "model/report_source.h"
#include "query/index_key.h"
#include "query/selection.h"
#include "query/span_cache.h"
#include "store/store.h"
#include "timetree/timetree.h"

/* May be moved in memory while none of its functions runs. */
struct ctx_query {
	struct ctx_store *store;	       /* borrowed */
	const struct ctx_profile *profile;     /* the store's */
	const struct ctx_selection *selection; /* borrowed */
	unsigned flags;			       /* CTX_TIMETREE_*, of histograms by call stack */
	struct ctx_timetree_cost cost;	       /* of all queries so far; the caller may zero it */
	uint64_t samples_scanned;	       /* the same of scans */
	struct ctx_span_cache spans;	       /* owned */
	const struct ctx_index_stacks *shown; /* the functions of slices are those of these; NULL; borrowed */
};

/* Store and selection must outlive the query. Cheap: nothing is read. */
void ctx_query_init(struct ctx_query *query, struct ctx_store *store, const struct ctx_selection *selection,
		    unsigned flags);
void ctx_query_deinit(struct ctx_query *query);

/* The component metrics of a metric: its parts, or itself. `*metric` is borrowed. */
const uint32_t *ctx_query_base_metrics(const struct ctx_profile *profile, const uint32_t *metric,
				       size_t *ret_n);

/* What a histogram is of. */
struct ctx_query_scope {
	uint32_t metric;
	uint32_t thread;		      /* CTX_NONE: all selected together */
	const struct ctx_interval *intervals; /* disjoint, each in a selected one; NULL: the selected ones */
	size_t n_intervals;
};

/*
 * Adds the weights in the scope to `out`. A thread without samples adds nothing. O(log n) nodes of
 * a time tree for each interval and component metric; with filters a scan.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_histogram(struct ctx_query *query,
						   const struct ctx_query_scope *scope,
						   struct ctx_histogram *out, struct ctx_err *err);

/*
 * Samples and weight in the scope, exactly, whatever the flags: cheaper than a histogram. `scratch` is
 * cleared.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_sum(struct ctx_query *query, const struct ctx_query_scope *scope,
					     struct ctx_histogram *scratch, struct ctx_report_sum *ret,
					     struct ctx_err *err);

/*
 * Adds the weights of all selected threads together by raw stack to `out`, which is empty; calls
 * stay 0. Always exact, and always a scan: time trees do not index addresses. A sample without a
 * raw stack adds to the root, 0.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_raw_histogram(struct ctx_query *query, uint32_t metric,
						       struct ctx_histogram *out, struct ctx_err *err);

struct ctx_query_metrics { /* borrowed */
	const uint32_t *ids;
	size_t n; /* at least one */
};

/* Owned by the caller (ctx_query_parts_free). */
struct ctx_query_parts {
	struct ctx_report_part *parts;	  /* by thread id */
	struct ctx_histogram *histograms; /* by part: n_metrics each */
	size_t n, n_metrics;
};

/*
 * Histograms of the selected intervals in each of the metrics: one part for all selected threads
 * together, or one for each that has samples in any of the metrics.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_parts(struct ctx_query *query,
					       const struct ctx_query_metrics *metrics, bool per_thread,
					       struct ctx_query_parts *ret, struct ctx_err *err);
void ctx_query_parts_free(struct ctx_query_parts *parts);

/*
 * Samples and weight of every selected thread in the selected intervals: arrays by thread id,
 * malloc'ed.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_thread_sums(struct ctx_query *query, uint32_t metric,
						     uint64_t **ret_samples, uint64_t **ret_weight,
						     struct ctx_err *err);

struct ctx_query_slicing {
	uint32_t metric;
	size_t per_thread;  /* slices for each; not 0 */
	size_t max_threads; /* maximum number of threads: the heaviest selected ones */
};

/*
 * The timeline: slices for all threads together (first) and for each of the heaviest, over the hull
 * of the selected intervals; with thread states also the time by state, which is a scan. ret->slices is malloc'ed.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_slices(struct ctx_query *query,
						const struct ctx_query_slicing *slicing,
						struct ctx_report_slices *ret, struct ctx_err *err);

/*
 * The selected time of the threads by state: threads with any time, by thread id; of cut spans the
 * inner part counts. malloc'ed. CTX_E_ARG: no thread states were recorded.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_states(struct ctx_query *query, struct ctx_report_states **ret,
						size_t *ret_n, struct ctx_err *err);

/*
 * The waits of the selected threads that lie at least partly in the selected intervals, in the
 * states of ctx_query_wait_states; equal ones are merged into a row, the longest first. Processors
 * are ignored: a waiting thread is on none. malloc'ed.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_wakers(struct ctx_query *query, struct ctx_report_wakers **ret,
						size_t *ret_n, struct ctx_err *err);

/*
 * The same waits by state and call stack, the longest first; who ended them is not considered, so
 * that a recording without wakers has them too. A wait that several intervals cut counts in each.
 * A scan of the spans of the wait states. malloc'ed.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_waits(struct ctx_query *query, struct ctx_report_waits **ret,
					       size_t *ret_n, struct ctx_err *err);

/*
 * The wait states among the states of the selected metrics, of CTX_STATE_BIT. 0: all or none of
 * them, which both mean all.
 */
unsigned ctx_query_wait_states(const struct ctx_query *query);

/*
 * The traced operations of a kind in the selection (intervals, threads, processors, filters), in
 * order of time; `ret->items` is malloc'ed, NULL for none. An interval includes the operations that
 * ended in it. For the heap, unselected operations that free memory of a selected allocation are
 * included as CTX_HEAP_FREE; so are those between the intervals.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_traced(struct ctx_query *query, enum ctx_traced_kind kind,
						struct ctx_report_traced *ret, struct ctx_err *err);

/* As `allocations` of struct ctx_report_source; `ret->items` is malloc'ed. */
CTX_MUST_CHECK enum ctx_status ctx_query_allocations(struct ctx_query *query, struct ctx_report_traced *ret,
						     struct ctx_err *err);

/* As `calls` of struct ctx_report_source. */
CTX_MUST_CHECK enum ctx_status ctx_query_calls(struct ctx_query *query, uint64_t from_ns,
					       ctx_report_call_fn each, void *context, struct ctx_err *err);

/* Sums by the values of keys, unordered. Owned by the caller (ctx_query_index_free). */
struct ctx_query_index {
	int64_t *keys;		       /* n_by for each row */
	struct ctx_report_sum *sums;   /* n_metrics for each row, as the selection has them */
	struct ctx_report_sum *totals; /* n_metrics */
	size_t n, n_by, n_metrics;
	struct ctx_strtab names;	     /* of keys that are names: by their value */
	const struct ctx_source_file *files; /* of keys that are lines; borrowed from the store */
};

/*
 * In all selected metrics; always a scan. `stacks` NULL: as recorded. CTX_E_ARG: an expression is
 * invalid, or uses properties that the samples of the metrics do not have. CTX_E_LIMIT: too many
 * rows.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_index(struct ctx_query *query, const struct ctx_index_keys *keys,
					       const struct ctx_index_stacks *stacks,
					       struct ctx_query_index *ret, struct ctx_err *err);
void ctx_query_index_free(struct ctx_query_index *index);

/* Contents of each level of the merged tree of the metric. malloc'ed. */
CTX_MUST_CHECK enum ctx_status ctx_query_levels(struct ctx_query *query, uint32_t metric,
						struct ctx_report_level **ret, size_t *ret_n,
						struct ctx_err *err);

#endif
