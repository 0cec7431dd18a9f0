/*
 * Selected samples one by one, for those who want every one of them: exports and the HTML page.
 */
#ifndef CTX_QUERY_QUERY_SAMPLES_H
#define CTX_QUERY_QUERY_SAMPLES_H

#include "model/report_source.h"
#include "query/selection.h"
#include "store/store.h"

/*
 * Hands out the samples that `query` describes, in order of time; with `has_metric` spans as they are recorded, else cut at the
 * intervals (those that go on behind an interval end with its last nanosecond, behind all others). Reads the sample blocks of
 * the intervals once. Ends with the first status of `each` that is not CTX_OK.
 */
struct ctx_query_samples {
	struct ctx_store *store;
	const struct ctx_selection *selection;
	const struct ctx_samples_query *query;
	ctx_report_sample_fn each;
	void *context;
};

CTX_MUST_CHECK enum ctx_status ctx_query_samples(const struct ctx_query_samples *samples,
						 struct ctx_err *err);

#endif
