#include "compare/bins.h"

#include "base/bisect.h"
#include "base/mem.h"
#include "compare/diff_stream.h"

#include <stdlib.h>
#include <string.h>

#define CELLS 4096u /* of a lane: how finely waits for a processor are known */

/* A lane's time, in selected time. */
struct lane {
	uint64_t begin_ns, end_ns;
	uint64_t cell_ns;
	uint64_t *waited_ns; /* owned; by cell: in front of it, CELLS + 1 of them. NULL: not known */
};

struct work {
	const struct ctx_bins_spec *spec;
	struct ctx_bins *bins;
	const struct ctx_report_selection *selection;
	uint64_t *elapsed_ns; /* by interval: of selected time in front of it */
	uint8_t *lane_of;     /* by thread */
	struct lane lanes[CTX_BINS_LANES_MAX];
	const struct ctx_diff_stream *stream; /* that is being read */
	bool clipped;
	bool by_time;  /* the bins of rows; otherwise by weight */
	double extent; /* of all bins of a row */
	double over;   /* weight of the samples so far */
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Selected time that is over at `time_ns`. */
static uint64_t selected_time(const struct work *work, uint64_t time_ns)
{
	const struct ctx_report_selection *selection = work->selection;
	size_t n = ctx_count_up_to(selection->intervals, selection->n_intervals, begin_ns, time_ns);

	if (n == 0)
		return 0;
	return work->elapsed_ns[n - 1] + smaller(time_ns, selection->intervals[n - 1].end_ns) -
	       selection->intervals[n - 1].begin_ns;
}

static enum ctx_status measure_selection(struct work *work, struct ctx_err *err)
{
	const struct ctx_report_selection *selection = work->selection;

	work->elapsed_ns = ctx_calloc(selection->n_intervals + 1, sizeof(*work->elapsed_ns));
	if (work->elapsed_ns == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < selection->n_intervals; i++)
		work->elapsed_ns[i + 1] = work->elapsed_ns[i] + selection->intervals[i].end_ns -
					  selection->intervals[i].begin_ns;
	return CTX_OK;
}

/* The heaviest threads, the heaviest first; the number of them. */
static size_t heaviest(const struct ctx_profile *profile, const uint64_t *weight,
		       uint32_t ret[CTX_BINS_LANES_MAX - 1])
{
	size_t n = 0;

	for (uint32_t i = 0; i < profile->n_threads; i++) {
		uint64_t own = weight != NULL ? weight[i] : profile->threads[i].weight;
		size_t at = n;

		if (own == 0)
			continue;
		while (at > 0) {
			uint32_t before = ret[at - 1];

			if ((weight != NULL ? weight[before] : profile->threads[before].weight) >= own)
				break;
			at--;
		}
		if (at == CTX_BINS_LANES_MAX - 1)
			continue;
		n += n < CTX_BINS_LANES_MAX - 1;
		memmove(ret + at + 1, ret + at, (n - at - 1) * sizeof(*ret));
		ret[at] = i;
	}
	return n;
}

static void add_lane(struct work *work, uint64_t begin_ns, uint64_t end_ns)
{
	struct lane *lane = &work->lanes[work->bins->n_lanes++];

	lane->begin_ns = begin_ns;
	lane->end_ns = end_ns > begin_ns ? end_ns : begin_ns + 1;
	lane->cell_ns = (lane->end_ns - lane->begin_ns) / CELLS + 1;
}

/* Lane 0 is for all threads without one of their own. */
static enum ctx_status make_lanes(struct work *work, struct ctx_report_source *source, struct ctx_err *err)
{
	const struct ctx_profile *profile = work->selection->profile;
	uint32_t threads[CTX_BINS_LANES_MAX - 1];
	struct ctx_report_thread_sums sums;
	size_t n;
	enum ctx_status status = source->thread_sums(source, &sums, err);

	if (status != CTX_OK)
		return status;
	work->lane_of = ctx_calloc((size_t)profile->n_threads + 1, 1);
	if (work->lane_of == NULL)
		return ctx_err_nomem(err);
	add_lane(work, 0, work->elapsed_ns[work->selection->n_intervals]);
	n = heaviest(profile, sums.weight, threads);
	for (size_t i = 0; i < n; i++) {
		struct ctx_interval life = profile->threads[threads[i]].life;

		work->lane_of[threads[i]] = (uint8_t)work->bins->n_lanes;
		add_lane(work, selected_time(work, life.begin_ns), selected_time(work, life.end_ns));
	}
	return CTX_OK;
}

/* Divides a wait for a processor among the cells of its thread's lane. */
static enum ctx_status take_wait(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct work *work = context;
	const struct ctx_profile *profile = work->selection->profile;
	struct lane *lane =
		&work->lanes[sample->thread < profile->n_threads ? work->lane_of[sample->thread] : 0];
	uint64_t begin_ns = selected_time(work, ctx_sample_begin(sample));
	uint64_t end_ns = smaller(selected_time(work, sample->time_ns) + 1, lane->end_ns);

	(void)err;
	begin_ns = begin_ns > lane->begin_ns ? begin_ns : lane->begin_ns;
	while (lane->waited_ns != NULL && begin_ns < end_ns) {
		uint64_t cell = (begin_ns - lane->begin_ns) / lane->cell_ns;
		uint64_t next_ns = smaller(lane->begin_ns + (cell + 1) * lane->cell_ns, end_ns);

		lane->waited_ns[cell + 1] += next_ns - begin_ns;
		begin_ns = next_ns;
	}
	return CTX_OK;
}

static enum ctx_status find_waits(struct work *work, struct ctx_report_source *source, struct ctx_err *err)
{
	const struct ctx_profile *profile = work->selection->profile;
	struct ctx_samples_query query = {.thread = CTX_NONE, .has_metric = true};
	enum ctx_status status;

	if (!profile->has_states || work->clipped)
		return CTX_OK;
	query.metric = ctx_profile_state_metric(profile, CTX_STATE_WAIT_CPU);
	for (size_t i = 1; i < work->bins->n_lanes; i++) {
		work->lanes[i].waited_ns = ctx_calloc(CELLS + 1, sizeof(*work->lanes[i].waited_ns));
		if (work->lanes[i].waited_ns == NULL)
			return ctx_err_nomem(err);
	}
	status = source->samples(source, &query, take_wait, work, err);
	for (size_t i = 1; i < work->bins->n_lanes; i++) {
		for (size_t cell = 0; cell < CELLS; cell++)
			work->lanes[i].waited_ns[cell + 1] += work->lanes[i].waited_ns[cell];
	}
	return status;
}

/* The lane's time in front of `at_ns`. Within a cell waits are taken as even. */
static uint64_t lane_time(const struct lane *lane, uint64_t at_ns)
{
	uint64_t past_ns = smaller(at_ns, lane->end_ns), cell, begin_ns, waited_ns;

	past_ns = past_ns > lane->begin_ns ? past_ns - lane->begin_ns : 0;
	if (lane->waited_ns == NULL)
		return past_ns;
	cell = smaller(past_ns / lane->cell_ns, CELLS - 1);
	begin_ns = cell * lane->cell_ns;
	waited_ns = lane->waited_ns[cell + 1] - lane->waited_ns[cell];
	waited_ns = (uint64_t)((double)waited_ns * (double)(past_ns - begin_ns) / (double)lane->cell_ns);
	waited_ns += lane->waited_ns[cell];
	return past_ns > waited_ns ? past_ns - waited_ns : 0;
}

static void divide_lanes(struct work *work)
{
	struct ctx_bins *bins = work->bins;
	uint64_t all_ns = 0;

	for (size_t i = 0; i < bins->n_lanes; i++)
		all_ns += lane_time(&work->lanes[i], UINT64_MAX);
	bins->width_ns = all_ns / work->spec->n_load + 1;
	for (size_t i = 0; i < bins->n_lanes; i++) {
		uint64_t length_ns = lane_time(&work->lanes[i], UINT64_MAX);
		uint64_t n = (length_ns + bins->width_ns - 1) / bins->width_ns;

		bins->lane_begin[i + 1] = bins->lane_begin[i] + (n != 0 ? n : 1);
	}
}

/* Adds a weight in a bin to the rows of the sample's items. */
static void add_items(struct work *work, uint32_t link, size_t bin, double weight)
{
	const struct ctx_diff_link *links = work->spec->recording->links;

	for (; link != CTX_NONE; link = links[link].next) {
		uint32_t row = work->spec->row_of[links[link].item];

		if (row != CTX_NONE)
			work->bins->weights[row * work->bins->n_bins + bin] += weight * work->spec->scale;
	}
}

/* A part of the recording's weight or time, and the weight that is in it. */
struct range {
	double begin, end, weight;
};

/* Divides a sample among the bins that its range covers. */
static void add_range(struct work *work, uint32_t link, struct range range)
{
	size_t n = work->bins->n_bins;
	double width = work->extent / (double)n, density = range.weight / (range.end - range.begin);

	while (range.begin < range.end) {
		double at = range.begin / width;
		size_t bin = at < (double)n ? (size_t)at : n - 1;
		double border = (double)(bin + 1) * width;

		/* Rounded down. */
		if (border <= range.begin && bin + 1 < n)
			border = (double)(++bin + 1) * width;
		border = bin + 1 == n || border <= range.begin || border > range.end ? range.end : border;
		add_items(work, link, bin, (border - range.begin) * density);
		range.begin = border;
	}
}

static void add_to_rows(struct work *work, const struct ctx_sample *sample)
{
	uint32_t link = ctx_diff_first_link(work->stream, sample);
	struct range range = {work->over, work->over + (double)sample->weight, (double)sample->weight};

	if (work->by_time) {
		range.begin = (double)selected_time(work, ctx_sample_begin(sample));
		range.end = range.begin + (double)sample->weight;
	}
	work->over += (double)sample->weight;
	add_range(work, link, range);
}

static size_t bin_at(const struct work *work, size_t lane, uint64_t at_ns)
{
	const struct ctx_bins *bins = work->bins;
	size_t bin = lane_time(&work->lanes[lane], at_ns) / bins->width_ns;
	size_t n = bins->lane_begin[lane + 1] - bins->lane_begin[lane];

	return bins->lane_begin[lane] + (bin < n ? bin : n - 1);
}

/* A span is divided among the bins that it covers. Its lane has no waits. */
static void add_span(struct work *work, const struct ctx_sample *sample, size_t lane)
{
	uint64_t begin_ns = selected_time(work, ctx_sample_begin(sample)), end_ns = begin_ns + sample->weight;

	while (begin_ns < end_ns) {
		size_t bin = bin_at(work, lane, begin_ns);
		uint64_t border_ns = work->lanes[lane].begin_ns +
				     (bin - work->bins->lane_begin[lane] + 1) * work->bins->width_ns;

		if (border_ns <= begin_ns || bin + 1 == work->bins->lane_begin[lane + 1])
			border_ns = end_ns;
		border_ns = smaller(border_ns, end_ns);
		work->bins->load[bin] += (double)(border_ns - begin_ns) * work->spec->scale;
		begin_ns = border_ns;
	}
}

static enum ctx_status take_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct work *work = context;
	const struct ctx_profile *profile = work->selection->profile;
	size_t lane = sample->thread < profile->n_threads ? work->lane_of[sample->thread] : 0;

	(void)err;
	work->bins->samples++;
	add_to_rows(work, sample);
	if (work->clipped)
		add_span(work, sample, lane);
	else
		work->bins->load[bin_at(work, lane, selected_time(work, sample->time_ns))] +=
			(double)sample->weight * work->spec->scale;
	return CTX_OK;
}

static enum ctx_status allocate(struct work *work, struct ctx_err *err)
{
	struct ctx_bins *bins = work->bins;

	bins->n_rows = work->spec->n_rows;
	bins->n_bins = work->spec->n_bins;
	bins->weights = ctx_calloc((size_t)bins->n_rows + 1, bins->n_bins * sizeof(*bins->weights));
	bins->load = ctx_calloc(bins->lane_begin[bins->n_lanes], sizeof(*bins->load));
	if (bins->weights == NULL || bins->load == NULL)
		return ctx_err_nomem(err);
	return CTX_OK;
}

enum ctx_status ctx_bins_fill(struct ctx_report_source *source, const struct ctx_bins_spec *spec,
			      struct ctx_bins *ret, struct ctx_err *err)
{
	struct work work = {.spec = spec, .bins = ret, .selection = &source->selection};
	const struct ctx_diff_recording *recording = spec->recording;
	enum ctx_status status;

	*ret = (struct ctx_bins){0};
	work.clipped = ctx_metric_is_clipped(ctx_diff_stream_metric(source, &recording->streams[0]));
	work.by_time = recording->streams[0].metric != CTX_NONE;
	status = measure_selection(&work, err);
	if (status == CTX_OK)
		status = make_lanes(&work, source, err);
	if (status == CTX_OK)
		status = find_waits(&work, source, err);
	if (status == CTX_OK)
		divide_lanes(&work);
	if (status == CTX_OK)
		status = allocate(&work, err);
	work.extent = work.by_time && status == CTX_OK ? (double)work.elapsed_ns[work.selection->n_intervals]
						       : (double)spec->weight;
	for (size_t i = 0; i < recording->n_streams && status == CTX_OK; i++) {
		const struct ctx_diff_each each = {take_sample, &work};

		work.stream = &recording->streams[i];
		status = ctx_diff_stream_each(source, work.stream, &each, err);
	}
	free(work.elapsed_ns);
	free(work.lane_of);
	for (size_t i = 0; i < ret->n_lanes; i++)
		free(work.lanes[i].waited_ns);
	if (status != CTX_OK)
		ctx_bins_deinit(ret);
	return status;
}

void ctx_bins_deinit(struct ctx_bins *bins)
{
	free(bins->weights);
	free(bins->load);
	*bins = (struct ctx_bins){0};
}

void ctx_bins_lanes(const struct ctx_bins *bins, struct ctx_evidence_lane ret[CTX_BINS_LANES_MAX])
{
	for (size_t i = 0; i < bins->n_lanes; i++)
		ret[i] = (struct ctx_evidence_lane){.bins = bins->load + bins->lane_begin[i],
						    .n = bins->lane_begin[i + 1] - bins->lane_begin[i]};
}
