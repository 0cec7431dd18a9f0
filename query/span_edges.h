/*
 * Spans of time that an interval cuts: the excess at its begin, and the part missing at its end.
 *
 *	spans of a thread   |-----A-----|--B--|--------C--------|		a span is stored at its last nanosecond
 *	interval                  [ - - - - - - - - - )				contains A and B as points of time
 *	                          A loses the part before     C adds the part inside
 *
 * At most one span of all metrics of states of a thread crosses an edge, and one at its open calls;
 * the calls of the latter belong to its begin. Cost: a walk down one time tree for
 * each metric and edge of each thread that exists at that time; the query's cache saves most of
 * them if many intervals are adjacent.
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
	struct ctx_sample first; /* in the interval, began before it */
	uint64_t excess_ns;	 /* its length outside the interval; 0: none */
	struct ctx_sample last;	 /* the inner part of the span that extends beyond the end; weight 0: none */
	struct ctx_sample last_whole; /* the same, not cut */
};

/* The metric must be one of spans. Filters are ignored. */
CTX_MUST_CHECK enum ctx_status ctx_span_edges_find(struct ctx_query *query,
						   const struct ctx_span_scope *scope,
						   struct ctx_span_edges *ret, struct ctx_err *err);

/*
 * Corrects `out`, to which spans were added as points; thread CTX_NONE: all selected ones. Does
 * nothing for metrics that are not spans, and if no span can be cut.
 */
CTX_MUST_CHECK enum ctx_status ctx_span_edges_correct(struct ctx_query *query,
						      const struct ctx_span_scope *scope,
						      struct ctx_histogram *out, struct ctx_err *err);

#endif
