#include "compare/bins.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct work {
	const struct ctx_bins_spec *spec;
	struct ctx_bins *bins;
	const struct ctx_report_selection *selection;
	uint64_t *elapsed_ns; /* by interval: of selected time in front of it */
	uint8_t *lane_of;     /* by thread */
	uint64_t begin_ns[CTX_BINS_LANES_MAX], end_ns[CTX_BINS_LANES_MAX]; /* of lanes, in selected time */
	bool clipped;
	/* Rows on the path of a stack are counted once: */
	uint64_t *seen; /* by row: number of the last sample that had it */
	uint64_t sample;
};

static uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* Selected time that is over at `time_ns`. */
static uint64_t selected_time(const struct work *work, uint64_t time_ns)
{
	const struct ctx_report_selection *selection = work->selection;
	size_t low = 0, high = selection->n_intervals;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (selection->intervals[middle].begin_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return 0;
	return work->elapsed_ns[low - 1] + smaller(time_ns, selection->intervals[low - 1].end_ns) -
	       selection->intervals[low - 1].begin_ns;
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
	size_t lane = work->bins->n_lanes++;

	work->begin_ns[lane] = begin_ns;
	work->end_ns[lane] = end_ns > begin_ns ? end_ns : begin_ns + 1;
}

/* Lane 0 is for all threads without one of their own. */
static enum ctx_status make_lanes(struct work *work, struct ctx_report_source *source, struct ctx_err *err)
{
	const struct ctx_profile *profile = work->selection->profile;
	uint32_t threads[CTX_BINS_LANES_MAX - 1];
	struct ctx_report_thread_sums sums;
	uint64_t all_ns = 0;
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
	for (size_t i = 0; i < work->bins->n_lanes; i++)
		all_ns += work->end_ns[i] - work->begin_ns[i];
	work->bins->width_ns = all_ns / work->spec->n_bins + 1;
	for (size_t i = 0; i < work->bins->n_lanes; i++)
		work->bins->lane_begin[i + 1] = work->bins->lane_begin[i] +
						(work->end_ns[i] - work->begin_ns[i] + work->bins->width_ns -
						 1) / work->bins->width_ns;
	work->bins->n_bins = work->bins->lane_begin[work->bins->n_lanes];
	return CTX_OK;
}

static void add_weight(struct work *work, uint32_t row, size_t bin, double weight)
{
	work->bins->weights[row * work->bins->n_bins + bin] += weight;
}

/* Adds a weight in a bin to the rows of a stack. */
static void add_stack(struct work *work, const struct ctx_sample *sample, size_t bin, double weight)
{
	const struct ctx_trie *cct = &work->selection->profile->cct;
	uint32_t node = sample->stack;

	add_weight(work, work->spec->n_rows, bin, weight);
	work->sample++;
	while (node != CTX_TRIE_ROOT) {
		uint32_t row = work->spec->row_of[cct->key[node]];

		if (row != CTX_NONE && work->seen[row] != work->sample) {
			work->seen[row] = work->sample;
			add_weight(work, row, bin, weight);
		}
		if (!work->spec->total)
			break;
		node = cct->parent[node];
	}
}

static size_t bin_at(const struct work *work, size_t lane, uint64_t at_ns)
{
	const struct ctx_bins *bins = work->bins;
	size_t bin = at_ns > work->begin_ns[lane] ? (at_ns - work->begin_ns[lane]) / bins->width_ns : 0;
	size_t n = bins->lane_begin[lane + 1] - bins->lane_begin[lane];

	return bins->lane_begin[lane] + (bin < n ? bin : n - 1);
}

/* A span is divided among the bins that it covers. */
static void add_span(struct work *work, const struct ctx_sample *sample, size_t lane)
{
	uint64_t begin_ns = selected_time(work, ctx_sample_begin(sample)), end_ns = begin_ns + sample->weight;

	while (begin_ns < end_ns) {
		size_t bin = bin_at(work, lane, begin_ns);
		uint64_t border_ns = work->begin_ns[lane] +
				     (bin - work->bins->lane_begin[lane] + 1) * work->bins->width_ns;

		if (border_ns <= begin_ns || bin + 1 == work->bins->lane_begin[lane + 1])
			border_ns = end_ns;
		border_ns = smaller(border_ns, end_ns);
		add_stack(work, sample, bin, (double)(border_ns - begin_ns));
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
	if (work->clipped)
		add_span(work, sample, lane);
	else
		add_stack(work, sample, bin_at(work, lane, selected_time(work, sample->time_ns)),
			  (double)sample->weight);
	return CTX_OK;
}

static enum ctx_status allocate(struct work *work, struct ctx_err *err)
{
	struct ctx_bins *bins = work->bins;

	bins->n_rows = work->spec->n_rows;
	bins->weights = ctx_calloc((size_t)bins->n_rows + 1, bins->n_bins * sizeof(*bins->weights));
	work->seen = ctx_calloc((size_t)bins->n_rows + 1, sizeof(*work->seen));
	if (bins->weights == NULL || work->seen == NULL)
		return ctx_err_nomem(err);
	return CTX_OK;
}

enum ctx_status ctx_bins_fill(struct ctx_report_source *source, const struct ctx_bins_spec *spec,
			      struct ctx_bins *ret, struct ctx_err *err)
{
	struct work work = {.spec = spec, .bins = ret, .selection = &source->selection};
	const struct ctx_samples_query query = {.thread = CTX_NONE};
	const struct ctx_profile *profile = source->selection.profile;
	enum ctx_status status;

	*ret = (struct ctx_bins){0};
	work.clipped = ctx_metric_is_clipped(&profile->metrics[source->selection.metrics[0]]);
	status = measure_selection(&work, err);
	if (status == CTX_OK)
		status = make_lanes(&work, source, err);
	if (status == CTX_OK)
		status = allocate(&work, err);
	if (status == CTX_OK)
		status = source->samples(source, &query, take_sample, &work, err);
	free(work.elapsed_ns);
	free(work.lane_of);
	free(work.seen);
	if (status != CTX_OK)
		ctx_bins_deinit(ret);
	return status;
}

void ctx_bins_deinit(struct ctx_bins *bins)
{
	free(bins->weights);
	*bins = (struct ctx_bins){0};
}

void ctx_bins_lanes(const struct ctx_bins *bins, uint32_t row,
		    struct ctx_evidence_lane ret[CTX_BINS_LANES_MAX])
{
	const double *weights = bins->weights + row * bins->n_bins;

	for (size_t i = 0; i < bins->n_lanes; i++)
		ret[i] = (struct ctx_evidence_lane){.bins = weights + bins->lane_begin[i],
						    .n = bins->lane_begin[i + 1] - bins->lane_begin[i]};
}
