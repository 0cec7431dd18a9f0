/*
 * Sample scan: selected samples one by one, out of the sample blocks.
 *
 * Spans are cut to the interval first, and filters see a span as the selection cuts it; of what is
 * left the parts that they keep are samples (query/span_parts.h). Samples are in order of time,
 * except these parts, which come where their span ends, and spans that extend beyond the interval:
 * their parts come last.
 */
#ifndef CTX_QUERY_SAMPLE_SCAN_H
#define CTX_QUERY_SAMPLE_SCAN_H

#include "query/query.h"

/*
 * `operation`: the traced operation of the sample; NULL: none, or the scan does not read
 * operations.
 */
typedef enum ctx_status (*ctx_scan_fn)(void *context, const struct ctx_sample *sample,
				       const struct ctx_traced *operation, struct ctx_err *err);

struct ctx_scan {
	uint32_t metric;
	uint32_t thread;	      /* CTX_NONE: all, selected or not */
	struct ctx_interval interval; /* in one of the selected */
	bool reads_operations; /* samples of metrics of traced operations are made from these (also if a filter uses them) */
	ctx_scan_fn each;
	void *context;
};

/* The metric must have its own trees. Fails with the errors of `each`. */
CTX_MUST_CHECK enum ctx_status ctx_scan_samples(struct ctx_query *query, const struct ctx_scan *scan,
						struct ctx_err *err);

/*
 * All selected threads and intervals, and all component metrics; `thread` and `interval` are
 * ignored.
 */
CTX_MUST_CHECK enum ctx_status ctx_scan_selected(struct ctx_query *query, const struct ctx_scan *scan,
						 struct ctx_err *err);

#endif
