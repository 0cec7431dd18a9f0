/*
 * Spans of time that an interval cuts: what is counted too much at its begin, and what is missing at its end.
 *
 *	spans of a thread   |-----A-----|--B--|--------C--------|		a span stands at its last nanosecond
 *	interval                  [ - - - - - - - - - )				has A and B as points of time
 *	                          A loses what is before      C adds what is inside
 *
 * Of all metrics of a thread at most one span lies over an edge. Cost: a walk down one time tree for each metric and edge
 * of each thread that lives there; a cache spares most of them where many intervals lie side by side.
 */
#ifndef CTX_QUERY_EDGES_H
#define CTX_QUERY_EDGES_H

#include "base/map64.h"
#include "query/query.h"

struct ctx_known_span;

struct ctx_span_cache {		 /* all zero is valid */
	struct ctx_map64 places; /* thread << 32 | metric (CTX_NONE: what lies over the last edge) -> index */
	struct ctx_known_span *known; /* owned */
	size_t n, cap;
};

void ctx_span_cache_deinit(struct ctx_span_cache *cache);

struct ctx_query_edges {
	struct ctx_sample first; /* in the interval, began before it */
	uint64_t excess_ns;	 /* so much of it; 0: there is none */
	struct ctx_sample
		last; /* the part inside of the span that goes on behind the interval; weight 0: there is none */
	struct ctx_sample last_whole; /* the same, not cut */
};

/* The metric is one of spans and has trees of its own. Filters are not looked at. */
CTX_MUST_CHECK enum ctx_status ctx_query_edges_find(struct ctx_query *query, uint32_t thread, uint32_t metric,
						    struct ctx_interval interval, struct ctx_query_edges *ret,
						    struct ctx_err *err);

/*
 * Corrects what was added to `out` for the interval as if its spans were points; of one thread, CTX_NONE: of all selected
 * ones. Nothing to do for metrics that are no spans, and where nothing can be cut.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_edges_correct(struct ctx_query *query, uint32_t thread,
						       uint32_t metric, struct ctx_interval interval,
						       struct ctx_histogram *out, struct ctx_err *err);

#endif
