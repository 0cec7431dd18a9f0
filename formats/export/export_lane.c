#include "formats/export/export_lane.h"

bool ctx_export_is_clock(const struct ctx_export_input *input)
{
	return input->metric < input->profile->n_metrics &&
	       ctx_metric_is_time(&input->profile->metrics[input->metric]);
}

struct ctx_interval ctx_export_extent(const struct ctx_export_input *input)
{
	struct ctx_interval extent = input->profile->run;

	if (input->selection->n_intervals != 0) {
		uint64_t end = input->selection->intervals[input->selection->n_intervals - 1].end_ns;

		extent.begin_ns = input->selection->intervals[0].begin_ns;
		if (end < extent.end_ns)
			extent.end_ns = end;
	}
	if (extent.end_ns < extent.begin_ns)
		extent.end_ns = extent.begin_ns;
	return extent;
}

bool ctx_export_is_exact(const struct ctx_export_input *input)
{
	return input->metric < input->profile->n_metrics &&
	       ctx_metric_has_exact_calls(&input->profile->metrics[input->metric]);
}

void ctx_export_lane_begin(struct ctx_export_lane *lane, const struct ctx_export_input *input)
{
	lane->end_ns = ctx_export_extent(input).begin_ns;
	lane->exact = ctx_export_is_exact(input);
}

/* What it is in time; without weight a point. */
static struct ctx_export_span place_exactly(struct ctx_export_lane *lane, const struct ctx_sample *sample)
{
	struct ctx_export_span span = {.begin_ns = sample->weight != 0 ? ctx_sample_begin(sample)
								       : sample->time_ns};

	if (span.begin_ns < lane->end_ns)
		span.begin_ns = lane->end_ns;
	span.idle_ns = span.begin_ns - lane->end_ns;
	span.end_ns =
		sample->weight != 0 && sample->time_ns >= span.begin_ns ? sample->time_ns + 1 : span.begin_ns;
	lane->end_ns = span.end_ns;
	return span;
}

uint32_t ctx_export_lane_kept(const struct ctx_export_lane *lane, const struct ctx_trie *cct, uint32_t open,
			      const struct ctx_sample *sample)
{
	uint32_t kept = ctx_trie_common_ancestor(cct, open, sample->stack);

	return lane->exact && sample->kept_depth < cct->depth[kept]
		       ? ctx_trie_ancestor(cct, kept, sample->kept_depth)
		       : kept;
}

struct ctx_export_span ctx_export_lane_place(struct ctx_export_lane *lane, const struct ctx_sample *sample)
{
	uint64_t weight = sample->weight;
	uint64_t begin = sample->time_ns > weight ? sample->time_ns - weight : 0;
	struct ctx_export_span span = {0};

	if (lane->exact)
		return place_exactly(lane, sample);
	if (begin > lane->end_ns && begin - lane->end_ns > weight)
		span.idle_ns = begin - lane->end_ns;
	span.begin_ns = lane->end_ns + span.idle_ns;
	/* Weights of a damaged recording may be arbitrary: times saturate and never wrap. */
	if (__builtin_add_overflow(span.begin_ns, weight, &span.end_ns))
		span.end_ns = UINT64_MAX;
	lane->end_ns = span.end_ns;
	if (span.end_ns > sample->time_ns && span.end_ns - sample->time_ns > lane->latest_ns)
		lane->latest_ns = span.end_ns - sample->time_ns;
	return span;
}

void ctx_export_lane_remark(const struct ctx_export_lane *lane, const struct ctx_export_input *input)
{
	struct ctx_interval extent = ctx_export_extent(input);
	char text[160], time[32];

	if (lane->latest_ns <= (extent.end_ns - extent.begin_ns) / 100)
		return;
	ctx_time_format(lane->latest_ns, time, sizeof(time));
	snprintf(text, sizeof(text),
		 "samples closer together than their weights are drawn back to back: up to %s too "
		 "late",
		 time);
	input->remark(input->remark_context, text);
}
