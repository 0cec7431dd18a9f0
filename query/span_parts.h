/*
 * Parts of a span of time: those that the filters keep, and those in which no key of an index
 * changes.
 *
 *	span            |-----------------------|
 *	TSTAMP >= t            . - - - - - - - - - -
 *	kept                   |----------------|
 *	SECOND          0 0 0 0|1 1 1 1 1 1 1|2 2
 *	by second              |-------------|--|
 *
 * The parts are disjoint and in order of time. WEIGHT is the length of the whole span for filters,
 * and of the kept part for keys. The first part has the calls of the span.
 */
#ifndef CTX_QUERY_SPAN_PARTS_H
#define CTX_QUERY_SPAN_PARTS_H

#include "query/index_values.h"
#include "query/selection.h"

#define CTX_SPAN_PARTS_MAX (UINT32_C(1) << 24)

struct ctx_span_parts {
	const struct ctx_selection *selection; /* of filters; or NULL: */
	const struct ctx_index_values *keys;
	struct ctx_sample span;
	const struct ctx_profile *profile;
	struct ctx_expression_subject subject; /* of the whole span */
	uint64_t next_ns;
	int64_t values[CTX_INDEX_KEYS_MAX]; /* of the keys that are expressions, in the last part */
	uint32_t n;
	bool has_calls; /* they have not been given away */
};

/*
 * The span, already cut to its interval; its length is not 0. Processors are ignored. The arguments
 * are borrowed until the last call.
 */
void ctx_span_parts_kept(const struct ctx_selection *selection, const struct ctx_sample *span,
			 struct ctx_span_parts *ret);
void ctx_span_parts_by(const struct ctx_index_values *keys, const struct ctx_sample *span,
		       struct ctx_span_parts *ret);

/*
 * The next part; neighbours that a filter keeps, or of the same keys, are one. CTX_END: no more.
 * CTX_E_LIMIT: the expression changes more than 16 million times along the span.
 */
CTX_MUST_CHECK enum ctx_status ctx_span_parts_next(struct ctx_span_parts *parts, struct ctx_sample *ret,
						   struct ctx_err *err);

#endif
