#include "compare/diff_stream.h"

#include <stdlib.h>

struct enumeration {
	const struct ctx_report_selection *selection;
	const struct ctx_diff_stream *stream;
	const struct ctx_diff_each *each;
	bool is_first, is_clipped, whole_run;
};

const struct ctx_metric_info *ctx_diff_stream_metric(const struct ctx_report_source *source,
						     const struct ctx_diff_stream *stream)
{
	const struct ctx_report_selection *selection = &source->selection;

	return &selection->profile
			->metrics[stream->metric != CTX_NONE ? stream->metric : selection->metrics[0]];
}

static int compare_ids(const void *left, const void *right)
{
	uint32_t a = *(const uint32_t *)left, b = *(const uint32_t *)right;

	return (a > b) - (a < b);
}

static bool is_selected(const struct ctx_report_selection *selection, uint32_t thread)
{
	return selection->threads == NULL || bsearch(&thread, selection->threads, selection->n_threads,
						     sizeof(thread), compare_ids) != NULL;
}

/* Of the selection's own metric spans come cut. */
static enum ctx_status take(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct enumeration *all = context;
	const struct ctx_report_selection *selection = all->selection;
	bool is_first = all->is_first;
	enum ctx_status status = CTX_OK;

	if (all->whole_run && !is_selected(selection, sample->thread))
		return CTX_OK;
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
	bool is_clipped = ctx_metric_is_clipped(ctx_diff_stream_metric(source, stream));
	/* A span that ends behind an interval may begin in it. */
	const struct ctx_samples_query query = {.thread = CTX_NONE,
						.whole_run = stream->metric != CTX_NONE && is_clipped,
						.has_metric = stream->metric != CTX_NONE,
						.metric = stream->metric != CTX_NONE ? stream->metric : 0};
	struct enumeration all = {.selection = &source->selection,
				  .stream = stream,
				  .each = each,
				  .is_first = true,
				  .is_clipped = is_clipped,
				  .whole_run = query.whole_run};

	return source->samples(source, &query, take, &all, err);
}
