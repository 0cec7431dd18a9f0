/*
 * Spans of time that an interval cuts: what is counted too much at its begin, and what is missing at its end.
 *
 *	spans of a thread   |-----A-----|--B--|--------C--------|		a span stands at its last nanosecond
 *	interval                  [ - - - - - - - - - )				has A and B as points of time
 *	                          A loses what is before      C adds what is inside
 *
 * Of all metrics of a thread at most one span lies over an edge. Cost: a walk down one time tree for each metric and edge
 * of each thread that lives there; the query's cache saves most of them where many intervals lie side by side.
 */
#ifndef CTX_QUERY_SPAN_EDGES_H
#define CTX_QUERY_SPAN_EDGES_H

#include "query/query.h"

struct ctx_span_scope {
	uint32_t metric; /* has trees of its own */
	uint32_t thread;
	struct ctx_interval interval;
};

struct ctx_span_edges {
	struct ctx_sample first;      /* in the interval, began before it */
	uint64_t excess_ns;	      /* so much of it is outside; 0: there is none */
	struct ctx_sample last;	      /* the part inside of the span that goes on behind it; weight 0: none */
	struct ctx_sample last_whole; /* the same, not cut */
};

/* The metric is one of spans. Filters are not looked at. */
CTX_MUST_CHECK enum ctx_status ctx_span_edges_find(struct ctx_query *query,
						   const struct ctx_span_scope *scope,
						   struct ctx_span_edges *ret, struct ctx_err *err);

/*
 * Corrects what was added to `out` as if spans were points; the thread CTX_NONE: of all selected ones. Nothing to do for metrics
 * that are no spans, and where nothing can be cut.
 */
CTX_MUST_CHECK enum ctx_status ctx_span_edges_correct(struct ctx_query *query,
						      const struct ctx_span_scope *scope,
						      struct ctx_histogram *out, struct ctx_err *err);

#endif
