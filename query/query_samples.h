/*
 * Selected samples one by one, for exports and the HTML page.
 */
#ifndef CTX_QUERY_QUERY_SAMPLES_H
#define CTX_QUERY_QUERY_SAMPLES_H

#include "model/report_source.h"
#include "query/query.h"

/*
 * Passes the samples that `wanted` describes to `each` in order of time; with `has_metric` spans are
 * as recorded, else cut at the intervals (those that extend beyond an interval end with its last
 * nanosecond, after all others). The parts of a span that filters keep come where the span ends.
 * Reads the sample blocks of the intervals once. Ends with the first status of `each` that is not
 * CTX_OK.
 */
struct ctx_query_samples {
	struct ctx_query *query;
	const struct ctx_samples_query *wanted;
	ctx_report_sample_fn each;
	void *context;
};

CTX_MUST_CHECK enum ctx_status ctx_query_samples(const struct ctx_query_samples *samples,
						 struct ctx_err *err);

#endif
