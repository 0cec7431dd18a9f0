/*
 * The parts of a report in several metrics: one question for each metric, put together by thread.
 */
#ifndef CTX_QUERY_MORE_PARTS_H
#define CTX_QUERY_MORE_PARTS_H

#include "query/query.h"

struct ctx_more_parts {
	struct ctx_query_parts *queries; /* owned; by metric, the selection's first */
	size_t n_queries;
	struct ctx_report_part *parts; /* owned: threads that have samples in any of the metrics */
	struct ctx_histogram *
		histograms; /* owned as an array, what they hold is the queries': by part, all but the first metric */
	struct ctx_histogram *firsts; /* the same: by part, the first metric */
	size_t n;
};

/* Of the selection's metric and more_metrics. */
CTX_MUST_CHECK enum ctx_status ctx_more_parts_query(struct ctx_query *query, bool per_thread,
						    struct ctx_more_parts *ret, struct ctx_err *err);
void ctx_more_parts_free(struct ctx_more_parts *parts);

#endif
