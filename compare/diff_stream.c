#include "compare/diff_stream.h"

struct enumeration {
	const struct ctx_report_selection *selection;
	const struct ctx_diff_stream *stream;
	const struct ctx_diff_each *each;
	bool is_first, is_clipped;
};

const struct ctx_metric_info *ctx_diff_stream_metric(const struct ctx_report_source *source,
						     const struct ctx_diff_stream *stream)
{
	const struct ctx_report_selection *selection = &source->selection;

	return &selection->profile
			->metrics[stream->metric != CTX_NONE ? stream->metric : selection->metrics[0]];
}

/* Of the selection's own metric spans come cut. */
static enum ctx_status take(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct enumeration *all = context;
	const struct ctx_report_selection *selection = all->selection;
	bool is_first = all->is_first;
	enum ctx_status status = CTX_OK;

	all->is_first = false;
	if (is_first && all->stream->skips_start && ctx_wait_is_start(selection->profile, sample))
		return CTX_OK;
	if (all->stream->metric == CTX_NONE || !all->is_clipped)
		return all->each->each(all->each->context, sample, err);
	for (size_t i = 0; i < selection->n_intervals && status == CTX_OK; i++) {
		struct ctx_sample part = *sample;

		if (ctx_sample_clip(&part, selection->intervals[i]))
			status = all->each->each(all->each->context, &part, err);
	}
	return status;
}

enum ctx_status ctx_diff_stream_each(struct ctx_report_source *source, const struct ctx_diff_stream *stream,
				     const struct ctx_diff_each *each, struct ctx_err *err)
{
	const struct ctx_samples_query query = {.thread = CTX_NONE,
						.has_metric = stream->metric != CTX_NONE,
						.metric = stream->metric != CTX_NONE ? stream->metric : 0};
	struct enumeration all = {&source->selection, stream, each, true,
				  ctx_metric_is_clipped(ctx_diff_stream_metric(source, stream))};

	return source->samples(source, &query, take, &all, err);
}
