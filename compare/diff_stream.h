/*
 * The samples of a stream (compare/diff_links.h), one by one: spans are cut at the selected intervals, and what a
 * stream leaves out is not among them.
 */
#ifndef CTX_COMPARE_DIFF_STREAM_H
#define CTX_COMPARE_DIFF_STREAM_H

#include "compare/diff_links.h"

/* The metric of a stream. */
const struct ctx_metric_info *ctx_diff_stream_metric(const struct ctx_report_source *source,
						     const struct ctx_diff_stream *stream);

struct ctx_diff_each {
	ctx_report_sample_fn each;
	void *context;
};

/* In order of time. What `each` or the source fails with. Reads the database. */
CTX_MUST_CHECK enum ctx_status ctx_diff_stream_each(struct ctx_report_source *source,
						    const struct ctx_diff_stream *stream,
						    const struct ctx_diff_each *each, struct ctx_err *err);

#endif
