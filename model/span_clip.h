/*
 * Cutting the spans of metrics to an interval.
 */
#ifndef CTX_MODEL_SPAN_CLIP_H
#define CTX_MODEL_SPAN_CLIP_H

#include "model/profile.h"
#include "model/sample.h"

/* Whether the calls of a span belong to its begin alone. */
static inline bool ctx_span_has_exact_calls(const struct ctx_profile *profile, const struct ctx_sample *span)
{
	return span->metric < profile->n_metrics &&
	       ctx_metric_has_exact_calls(&profile->metrics[span->metric]);
}

/* It has no calls any more. */
static inline void ctx_span_drop_calls(const struct ctx_profile *profile, struct ctx_sample *span)
{
	if (span->stack >= profile->cct.n)
		return;
	span->kept_stack = span->stack;
	span->kept_depth = profile->cct.depth[span->stack];
}

/*
 * As ctx_sample_clip, for a sample of a metric of spans. One without weight is a point of time. Where
 * calls are exact, a span that began before the window has none in it.
 */
static inline bool ctx_span_clip(const struct ctx_profile *profile, struct ctx_sample *span,
				 struct ctx_interval window)
{
	uint64_t begin_ns = ctx_sample_begin(span);

	if (span->weight == 0)
		return ctx_interval_has(window, span->time_ns);
	if (!ctx_sample_clip(span, window))
		return false;
	if (begin_ns < window.begin_ns && ctx_span_has_exact_calls(profile, span))
		ctx_span_drop_calls(profile, span);
	return true;
}

#endif
