#include "compare/diff.h"

#include "base/mem.h"
#include "compare/bins.h"
#include "compare/diff_items.h"
#include "compare/diff_stream.h"
#include "compare/pairs.h"
#include "compare/runs.h"
#include "model/heap_sampling.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BINS_MIN 32u
#define LOAD_BINS_MAX 4096u
#define SAMPLES_A_BIN 4u /* finer bins hide that samples come at regular times */
#define TESTED_MAX 500u
#define TESTED_SHARE 0.001
#define CERTAIN 1e9 /* degrees of freedom of what is not measured */

/* A recording of a side, and what was measured of it. */
struct recording {
	struct ctx_report_source *source;
	enum ctx_compare_side side;
	struct ctx_bins bins;	       /* while it is being measured */
	struct ctx_evidence_side load; /* everything, by time */
	double quantum;		       /* mean weight of a sample */
	double kernel;	/* weight of what other programs decide: the kernel's functions, some states */
	bool exact;	/* every allocation was recorded: no part of the sums is by chance within the run */
	double noise;	/* what is assumed of the rest from run to run, as a share */
	double starved; /* time that threads waited for a processor; 0: not known, or of no account */
	double scale;	/* of the weighting: the weights above and in rows are multiplied by it */
	double *sums;	/* owned; by item, of a recording without samples; NULL: of another */
	uint64_t samples, weight;
};

struct work {
	const struct ctx_diff_spec *spec;
	struct ctx_diff *diff;
	struct recording *recordings; /* of side A, then of side B */
	size_t n;
	struct ctx_report_source **sources;
	enum ctx_compare_side *sides;
	uint32_t *row_of_item;	    /* tested ones */
	struct ctx_evidence *found; /* of each tested row, and of everything: n_tested + 1 */
	double *split;		    /* the same: p by splits of the recordings; 0 where there are none */
};

const char *ctx_verdict_word(enum ctx_verdict verdict)
{
	static const char *const WORDS[CTX_VERDICT_N] = {"no evidence", "slower", "faster", "new", "gone"};

	return WORDS[verdict];
}

static void recording_deinit(struct recording *recording)
{
	ctx_bins_deinit(&recording->bins);
	free(recording->sums);
}

static void work_deinit(struct work *work)
{
	for (size_t i = 0; i < work->n && work->recordings != NULL; i++)
		recording_deinit(&work->recordings[i]);
	free(work->recordings);
	free(work->sources);
	free(work->sides);
	free(work->row_of_item);
	free(work->found);
	free(work->split);
}

static const struct ctx_metric_info *metric_of(const struct ctx_report_source *source)
{
	return &source->selection.profile->metrics[source->selection.metrics[0]];
}

/* Weights of metrics in other units, or counts of other events, are no difference. */
static bool is_comparable(const struct ctx_metric_info *a, const struct ctx_metric_info *b)
{
	return a->unit == b->unit && (b->kind != CTX_METRIC_EVENTS || strcmp(a->name, b->name) == 0);
}

/* Appends the names of the metrics with samples that both have. */
static void put_common(const struct ctx_profile *first, const struct ctx_profile *other, struct ctx_buf *text)
{
	for (uint32_t i = 0; i < first->n_metrics; i++) {
		const struct ctx_metric_info *a = &first->metrics[i];
		uint32_t same = ctx_profile_find_metric(other, a->name);

		if (a->samples != 0 && same != CTX_NONE && other->metrics[same].samples != 0 &&
		    is_comparable(a, &other->metrics[same]))
			ctx_buf_printf(text, "%s%s", text->n != 0 ? ", " : "", a->name);
	}
	ctx_buf_put_u8(text, '\0');
}

static enum ctx_status check_metrics(const struct ctx_report_source *first,
				     const struct ctx_report_source *other, struct ctx_err *err)
{
	const struct ctx_metric_info *a = metric_of(first), *b = metric_of(other);
	struct ctx_buf common CTX_AUTO_BUF = {0};

	if (is_comparable(a, b))
		return CTX_OK;
	put_common(first->selection.profile, other->selection.profile, &common);
	if (common.failed)
		return ctx_err_nomem(err);
	return ctx_err_set(err, CTX_E_ARG,
			   "%s has the metric '%s' and %s '%s': choose a common one with --metric (%s)",
			   first->selection.path, a->name, other->selection.path, b->name,
			   common.n > 1 ? (const char *)common.bytes : "they have none");
}

/* Of heap metrics, unless the allocations are sampled. */
static bool is_exact(const struct ctx_report_source *source)
{
	const struct ctx_profile *profile = source->selection.profile;
	const struct ctx_metric_info *metric = metric_of(source);
	enum ctx_traced_kind kind;

	return metric->word != NULL && ctx_traced_kind_of_metric(metric->word, &kind) &&
	       kind == CTX_TRACED_HEAP &&
	       ctx_heap_sample_bytes(profile->properties, profile->n_properties) == 0;
}

static bool is_of_states(const struct work *work)
{
	return work->spec->subject == CTX_DIFF_STATES || work->spec->subject == CTX_DIFF_WAITS;
}

static enum ctx_status gather(struct work *work, struct ctx_err *err)
{
	const struct ctx_diff_side *sides = work->spec->sides;

	work->n = sides[CTX_COMPARE_A].n + sides[CTX_COMPARE_B].n;
	work->recordings = ctx_calloc(work->n, sizeof(*work->recordings));
	work->sources = ctx_calloc(work->n, sizeof(struct ctx_report_source *));
	work->sides = ctx_calloc(work->n, sizeof(*work->sides));
	if (work->recordings == NULL || work->sources == NULL || work->sides == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < work->n; i++) {
		enum ctx_compare_side side = i < sides[CTX_COMPARE_A].n ? CTX_COMPARE_A : CTX_COMPARE_B;
		enum ctx_status status;

		work->sides[i] = work->recordings[i].side = side;
		work->recordings[i].noise =
			work->spec->subject == CTX_DIFF_WAITS ? CTX_DIFF_WAIT_NOISE : CTX_DIFF_NOISE;
		work->sources[i] = work->recordings[i].source =
			sides[side].sources[side == CTX_COMPARE_A ? i : i - sides[CTX_COMPARE_A].n];
		if (is_of_states(work))
			continue;
		work->recordings[i].exact = is_exact(work->sources[i]);
		status = check_metrics(work->sources[0], work->sources[i], err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

static enum ctx_status find_items(struct work *work, struct ctx_err *err)
{
	const struct ctx_diff_items_spec spec = {.sources = work->sources,
						 .sides = work->sides,
						 .n = work->n,
						 .subject = work->spec->subject,
						 .total = work->spec->total,
						 .folds = work->spec->folds,
						 .renames = work->spec->renames};

	return ctx_diff_items_make(&spec, &work->diff->items, err);
}

static bool is_of_kernel(const struct ctx_profile *profile, uint32_t function)
{
	uint32_t object = function != CTX_NONE ? profile->functions[function].object : CTX_NONE;

	return object != CTX_NONE && ctx_object_is_kernel(profile->objects[object].path);
}

/* What is assumed of runs where there is one only, as a share of the time in a state. */
static double noise_of_state(enum ctx_thread_state state)
{
	switch (state) {
	case CTX_STATE_USER:
		return CTX_DIFF_NOISE;
	case CTX_STATE_USER_LOCK:
	case CTX_STATE_SLEEP:
		return CTX_DIFF_WAIT_NOISE;
	case CTX_STATE_SYSTEM:
	case CTX_STATE_TRAP:
	case CTX_STATE_TEXT_FAULT:
	case CTX_STATE_DATA_FAULT:
	case CTX_STATE_KERNEL_FAULT:
	case CTX_STATE_STOPPED:
	case CTX_STATE_WAIT_CPU:
	case CTX_STATE_UNKNOWN:
	case CTX_STATE_N:
		break;
	}
	return CTX_DIFF_KERNEL_NOISE;
}

/* ---- weights ---- */

static bool has_samples(const struct recording *recording)
{
	return !recording->source->selection.profile->losses.sample_blocks;
}

/* A stream's sums by item, and of everything. */
struct adding {
	struct work *work;
	struct recording *recording;
	const struct ctx_diff_recording *links;
	const struct ctx_diff_stream *stream;
	bool items; /* to the rows; otherwise to the recording */
};

static void add_links(const struct adding *adding, uint32_t link, uint64_t weight)
{
	const struct ctx_diff_link *links = adding->links->links;
	enum ctx_compare_side side = adding->recording->side;
	double scaled = (double)weight * adding->recording->scale;
	double own = scaled / (double)adding->work->spec->sides[side].n;

	for (; link != CTX_NONE; link = links[link].next) {
		adding->work->diff->rows[links[link].item].weight[side] += own;
		if (adding->recording->sums != NULL)
			adding->recording->sums[links[link].item] += scaled;
	}
}

static enum ctx_status add_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	const struct adding *adding = context;
	struct recording *recording = adding->recording;

	(void)err;
	if (adding->items) {
		add_links(adding, ctx_diff_first_link(adding->stream, sample), sample->weight);
		return CTX_OK;
	}
	recording->samples++;
	recording->weight += sample->weight;
	if (noise_of_state(adding->stream->state) == CTX_DIFF_KERNEL_NOISE)
		recording->kernel += (double)sample->weight;
	return CTX_OK;
}

static void add_histogram(const struct adding *adding, const struct ctx_histogram *histogram)
{
	for (size_t i = 0; i < histogram->n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[i];
		/* By stack or by raw stack. */
		const struct ctx_sample sample = {.stack = entry->stack, .raw_stack = entry->stack};

		add_links(adding, ctx_diff_first_link(adding->stream, &sample), entry->weight);
	}
}

/* Everything that is selected of the selection's own metric. */
static enum ctx_status add_whole(struct recording *recording, struct ctx_err *err)
{
	const struct ctx_profile *profile = recording->source->selection.profile;
	struct ctx_report_parts parts;
	enum ctx_status status =
		recording->source->parts(recording->source, &(struct ctx_parts_query){0}, &parts, err);

	for (size_t i = 0; status == CTX_OK && i < parts.n; i++) {
		const struct ctx_histogram *histogram = parts.parts[i].histograms;

		for (size_t k = 0; k < histogram->n; k++) {
			uint32_t stack = histogram->entries[k].stack;

			if (stack != CTX_TRIE_ROOT && is_of_kernel(profile, profile->cct.key[stack]))
				recording->kernel += (double)histogram->entries[k].weight;
		}
		recording->samples += histogram->samples;
		recording->weight += histogram->weight;
	}
	return status;
}

static enum ctx_status add_stream(struct adding *adding, struct ctx_err *err)
{
	struct ctx_report_source *source = adding->recording->source;
	const struct ctx_diff_each each = {add_sample, adding};
	const struct ctx_histogram *raw;
	struct ctx_report_parts parts;
	enum ctx_status status;

	if (adding->stream->metric == CTX_NONE && adding->stream->key == CTX_DIFF_BY_STACK) {
		status = source->parts(source, &(struct ctx_parts_query){0}, &parts, err);
		for (size_t i = 0; status == CTX_OK && i < parts.n; i++)
			add_histogram(adding, parts.parts[i].histograms);
		return status;
	}
	if (adding->stream->metric != CTX_NONE || adding->stream->key != CTX_DIFF_BY_RAW_STACK)
		return ctx_diff_stream_each(source, adding->stream, &each, err);
	status = source->raw_histogram(source, &raw, err);
	if (status == CTX_OK)
		add_histogram(adding, raw);
	return status;
}

static enum ctx_status add_streams(struct work *work, size_t at, bool items, struct ctx_err *err)
{
	struct adding adding = {.work = work,
				.recording = &work->recordings[at],
				.links = &work->diff->items.recordings[at],
				.items = items};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < adding.links->n_streams && status == CTX_OK; i++) {
		adding.stream = &adding.links->streams[i];
		status = add_stream(&adding, err);
	}
	return status;
}

/* Waiting for a processor: of times, if there is one recording of each side, and not of shares, which it leaves alone. */
static enum ctx_status add_starved(const struct work *work, struct recording *recording, struct ctx_err *err)
{
	const struct ctx_report_selection *selection = &recording->source->selection;
	const struct ctx_report_states *states;
	size_t n;
	enum ctx_status status;

	if (work->n != CTX_COMPARE_SIDES || work->spec->weighting.weights == CTX_WEIGHTS_SHARE ||
	    work->spec->subject == CTX_DIFF_WAITS || !selection->profile->has_states ||
	    (!is_of_states(work) && !ctx_metric_is_time(metric_of(recording->source))))
		return CTX_OK;
	status = recording->source->states(recording->source, &states, &n, err);
	for (size_t i = 0; status == CTX_OK && i < n; i++)
		recording->starved += (double)states[i].ns[CTX_STATE_WAIT_CPU] * recording->scale;
	return status;
}

/* Adds a recording's weights to the rows, of which there is one for each item. */
static enum ctx_status add_weights(struct work *work, size_t at, struct ctx_err *err)
{
	struct recording *recording = &work->recordings[at];
	struct ctx_diff_totals *totals = &work->diff->sides[recording->side];
	enum ctx_status status =
		is_of_states(work) ? add_streams(work, at, false, err) : add_whole(recording, err);
	const struct ctx_weighted weighted = {recording->source, recording->side, recording->weight};

	if (status == CTX_OK && recording->samples == 0)
		status = ctx_err_set(err, CTX_E_ARG,
				     "%s has no %s in the selection: there is nothing to compare",
				     recording->source->selection.path,
				     work->spec->subject == CTX_DIFF_WAITS    ? "waits"
				     : work->spec->subject == CTX_DIFF_STATES ? "time of threads"
									      : "samples");
	if (status == CTX_OK)
		status = ctx_weighting_scale(&work->spec->weighting, &weighted, &recording->scale, err);
	if (status == CTX_OK)
		status = add_starved(work, recording, err);
	if (status == CTX_OK && !has_samples(recording)) {
		recording->sums = ctx_calloc(work->diff->items.n + 1, sizeof(*recording->sums));
		status = recording->sums != NULL ? CTX_OK : ctx_err_nomem(err);
	}
	if (status == CTX_OK)
		status = add_streams(work, at, true, err);
	if (status != CTX_OK)
		return status;
	recording->kernel *= recording->scale;
	recording->quantum = (double)recording->weight * recording->scale / (double)recording->samples;
	totals->weight +=
		(double)recording->weight * recording->scale / (double)work->spec->sides[recording->side].n;
	totals->samples += recording->samples;
	return CTX_OK;
}

static double weight_of(const struct ctx_diff_row *row)
{
	return row->weight[CTX_COMPARE_A] + row->weight[CTX_COMPARE_B];
}

static int by_weight(const void *left, const void *right)
{
	const struct ctx_diff_row *a = left, *b = right;
	double x = weight_of(a), y = weight_of(b);

	if (x != y)
		return x < y ? 1 : -1;
	return (a->item > b->item) - (a->item < b->item);
}

static enum ctx_status weigh(struct work *work, struct ctx_err *err)
{
	struct ctx_diff *diff = work->diff;
	uint32_t n_items = (uint32_t)diff->items.n;
	enum ctx_status status = CTX_OK;
	double all;

	diff->rows = ctx_calloc((size_t)n_items + 1, sizeof(*diff->rows));
	work->row_of_item = ctx_calloc((size_t)n_items + 1, sizeof(*work->row_of_item));
	if (diff->rows == NULL || work->row_of_item == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n_items; i++) {
		diff->rows[i] = (struct ctx_diff_row){.item = i, .evidence = {.p = 1}};
		work->row_of_item[i] = CTX_NONE;
	}
	for (size_t i = 0; i < work->n && status == CTX_OK; i++)
		status = add_weights(work, i, err);
	if (status != CTX_OK)
		return status;
	qsort(diff->rows, n_items, sizeof(*diff->rows), by_weight);
	for (; diff->n < n_items && weight_of(&diff->rows[diff->n]) > 0; diff->n++) {
		const struct ctx_diff_row *row = &diff->rows[diff->n];

		for (int side = 0; side < CTX_COMPARE_SIDES; side++) {
			if (row->weight[!side] == 0)
				diff->sides[side].alone += row->weight[side];
		}
	}
	all = diff->sides[CTX_COMPARE_A].weight + diff->sides[CTX_COMPARE_B].weight;
	while (diff->n_tested < diff->n && diff->n_tested < TESTED_MAX &&
	       weight_of(&diff->rows[diff->n_tested]) >= TESTED_SHARE * all) {
		work->row_of_item[diff->rows[diff->n_tested].item] = (uint32_t)diff->n_tested;
		diff->n_tested++;
	}
	return CTX_OK;
}

static size_t limited(uint64_t n, size_t most)
{
	return n < BINS_MIN ? BINS_MIN : n < most ? (size_t)n : most;
}

/* With `n_bins` for each row; measures the load. The caller releases the bins when the rows are measured. */
static enum ctx_status fill_bins(struct work *work, size_t at, size_t n_bins, struct ctx_err *err)
{
	struct recording *recording = &work->recordings[at];
	const struct ctx_bins_spec spec = {.recording = &work->diff->items.recordings[at],
					   .row_of = work->row_of_item,
					   .n_rows = (uint32_t)work->diff->n_tested,
					   .n_bins = n_bins,
					   .n_load =
						   limited(recording->samples / SAMPLES_A_BIN, LOAD_BINS_MAX),
					   .weight = recording->weight,
					   .scale = recording->scale};
	struct ctx_diff_totals *totals = &work->diff->sides[recording->side];
	struct ctx_evidence_lane lanes[CTX_BINS_LANES_MAX];
	size_t n_runs = work->spec->sides[recording->side].n;
	enum ctx_status status = ctx_bins_fill(recording->source, &spec, &recording->bins, err);

	if (status != CTX_OK)
		return status;
	ctx_bins_lanes(&recording->bins, lanes);
	recording->load = ctx_evidence_measure(lanes, recording->bins.n_lanes, recording->quantum);
	totals->blocks = n_runs == 1 ? recording->load.blocks : n_runs;
	totals->length_ns = n_runs == 1 ? recording->load.length * recording->bins.width_ns : 0;
	return CTX_OK;
}

static double noise_of(const struct work *work, uint32_t row)
{
	const struct ctx_diff_item *item = &work->diff->items.items[work->diff->rows[row].item];

	if (is_of_states(work))
		return noise_of_state(item->state);
	return is_of_kernel(item->profile, item->function) ? CTX_DIFF_KERNEL_NOISE : CTX_DIFF_NOISE;
}

/* By how much everything varies within a recording. */
static struct ctx_evidence_error load_of(const struct recording *recording)
{
	if (recording->exact)
		return (struct ctx_evidence_error){0, CERTAIN};
	return (struct ctx_evidence_error){recording->load.variance, recording->load.df};
}

/* Everything of one recording, with what is assumed of runs: of its functions, and of the kernel's. */
static struct ctx_evidence_error error_of_all(const struct recording *recording)
{
	struct ctx_evidence_error error = load_of(recording);
	double kernel = CTX_DIFF_KERNEL_NOISE * recording->kernel;
	double others = recording->noise * (recording->load.sum - recording->kernel);

	ctx_evidence_error_add_known(&error, others * others + kernel * kernel);
	return error;
}

/*
 * The part of the load's error that an item with `sum` has, if it is the same share of everything at any load: of
 * shares none.
 */
static struct ctx_evidence_error load_error(const struct work *work, const struct recording *recording,
					    double sum)
{
	double share = recording->load.sum > 0 && work->spec->weighting.weights != CTX_WEIGHTS_SHARE
			       ? sum / recording->load.sum
			       : 0;

	struct ctx_evidence_error error = load_of(recording);

	error.variance *= share * share;
	return error;
}

/*
 * How much of a change may be other programs' doing: a thread that waits less for a processor runs more in the same
 * time. So a change counts for chance up to the opposite one of that waiting.
 */
static double displaced_of(const struct work *work, double change)
{
	double waited = work->recordings[CTX_COMPARE_B].starved - work->recordings[CTX_COMPARE_A].starved;

	return (change > 0) != (waited > 0) ? fmin(fabs(change), fabs(waited)) : 0;
}

/* The part of it in a row: of states the row's own, else its share of everything. */
static double displaced_of_row(const struct work *work, double a, double b)
{
	const struct recording *of_a = &work->recordings[CTX_COMPARE_A],
			       *of_b = &work->recordings[CTX_COMPARE_B];
	double all = of_a->load.sum + of_b->load.sum;

	if (is_of_states(work))
		return displaced_of(work, b - a);
	return all > 0 ? displaced_of(work, of_b->load.sum - of_a->load.sum) * (a + b) / all : 0;
}

/* One recording of each side: how much they differ from each other in a row, and what is assumed of runs. */
static struct ctx_evidence compare_pair(const struct work *work, uint32_t row)
{
	const struct recording *a = &work->recordings[CTX_COMPARE_A], *b = &work->recordings[CTX_COMPARE_B];
	const double *of_a = ctx_bins_row(&a->bins, row), *of_b = ctx_bins_row(&b->bins, row);
	struct ctx_evidence_error error = {0, CERTAIN}, load, load_b;
	double sum_a = 0, sum_b = 0, noise = noise_of(work, row), displaced;

	for (size_t i = 0; i < a->bins.n_bins; i++) {
		sum_a += of_a[i];
		sum_b += of_b[i];
	}
	displaced = displaced_of_row(work, sum_a, sum_b);
	if (!a->exact || !b->exact)
		error = ctx_pair_measure(of_a, of_b, a->bins.n_bins);
	error.variance += a->quantum * a->quantum + b->quantum * b->quantum;
	load = load_error(work, a, sum_a);
	load_b = load_error(work, b, sum_b);
	ctx_evidence_error_add(&load, &load_b);
	ctx_evidence_error_add_bound(&error, &load);
	ctx_evidence_error_add_known(&error,
				     noise * noise * (sum_a * sum_a + sum_b * sum_b) + displaced * displaced);
	return ctx_evidence_of(sum_b - sum_a, error.variance, error.df);
}

static enum ctx_status compare_pairs(struct work *work, struct ctx_err *err)
{
	const struct recording *a = &work->recordings[CTX_COMPARE_A], *b = &work->recordings[CTX_COMPARE_B];
	uint32_t n_tested = (uint32_t)work->diff->n_tested;
	uint64_t samples = a->samples < b->samples ? a->samples : b->samples;
	size_t n_bins = limited(samples / SAMPLES_A_BIN, CTX_PAIR_BINS_MAX);
	struct ctx_evidence_error error, error_b;

	for (size_t i = 0; i < CTX_COMPARE_SIDES; i++) {
		enum ctx_status status = fill_bins(work, i, n_bins, err);

		if (status != CTX_OK)
			return status;
	}
	for (uint32_t row = 0; row < n_tested; row++)
		work->found[row] = compare_pair(work, row);
	error = error_of_all(a);
	error_b = error_of_all(b);
	ctx_evidence_error_add(&error, &error_b);
	if (!is_of_states(work)) {
		work->diff->displaced = displaced_of(work, b->load.sum - a->load.sum);
		ctx_evidence_error_add_known(&error, work->diff->displaced * work->diff->displaced);
	}
	work->found[n_tested] = ctx_evidence_of(b->load.sum - a->load.sum, error.variance, error.df);
	return CTX_OK;
}

/* Without samples of both nothing tells what is chance. */
static enum ctx_status compare_trees(struct work *work)
{
	const struct recording *a = &work->recordings[CTX_COMPARE_A], *b = &work->recordings[CTX_COMPARE_B];
	double change = (double)b->weight * b->scale - (double)a->weight * a->scale;

	for (size_t row = 0; row <= work->diff->n_tested; row++)
		work->found[row] = ctx_evidence_of(change, 0, 0);
	work->diff->no_samples = true;
	return CTX_OK;
}

static void add_run(struct ctx_runs_row *row, const struct work *work, size_t at,
		    const struct ctx_evidence_error *within, double sum)
{
	enum ctx_compare_side side = work->recordings[at].side;

	row->mean[side] += sum / (double)work->spec->sides[side].n;
	row->within += within->variance / (double)work->n;
}

/*
 * A recording that was archived without samples. That its samples hit by chance alone is what its blocks would have
 * at least; how much more it is follows from all rows (compare/moderation.h).
 */
static void measure_trees(struct work *work, size_t at, double *sums, struct ctx_runs_row *rows)
{
	struct recording *recording = &work->recordings[at];
	struct ctx_diff_totals *totals = &work->diff->sides[recording->side];
	uint32_t n_tested = (uint32_t)work->diff->n_tested;

	for (uint32_t row = 0; row < n_tested; row++)
		sums[row] = recording->sums[work->diff->rows[row].item];
	sums[n_tested] = (double)recording->weight * recording->scale;
	totals->blocks = work->spec->sides[recording->side].n;
	totals->length_ns = 0;
	for (uint32_t row = 0; row <= n_tested; row++) {
		struct ctx_evidence_error within = {sums[row] * recording->quantum, 0};

		add_run(&rows[row], work, at, &within, sums[row]);
	}
}

/* Measures a recording: its sums, by row, and what it adds to the rows. */
static enum ctx_status measure_run(struct work *work, size_t at, double *sums, struct ctx_runs_row *rows,
				   struct ctx_err *err)
{
	struct recording *recording = &work->recordings[at];
	uint32_t n_tested = (uint32_t)work->diff->n_tested;
	size_t n_bins = limited(recording->samples / SAMPLES_A_BIN, CTX_PAIR_BINS_MAX);
	struct ctx_evidence_error within;
	enum ctx_status status = fill_bins(work, at, n_bins, err);

	if (status != CTX_OK)
		return status;
	for (uint32_t row = 0; row < n_tested; row++) {
		const struct ctx_evidence_lane lane = {ctx_bins_row(&recording->bins, row), n_bins};
		struct ctx_evidence_side side = ctx_evidence_measure(&lane, 1, recording->quantum);
		struct ctx_evidence_error load = load_error(work, recording, side.sum);

		sums[row] = side.sum;
		within = (struct ctx_evidence_error){side.variance, side.df};
		if (recording->exact)
			within =
				(struct ctx_evidence_error){recording->quantum * recording->quantum, CERTAIN};
		ctx_evidence_error_add_bound(&within, &load);
		add_run(&rows[row], work, at, &within, side.sum);
	}
	sums[n_tested] = recording->load.sum;
	within = load_of(recording);
	add_run(&rows[n_tested], work, at, &within, recording->load.sum);
	ctx_bins_deinit(&recording->bins);
	return CTX_OK;
}

/* Several recordings of a side: what differs between them is chance. */
static enum ctx_status compare_runs(struct work *work, struct ctx_err *err)
{
	const size_t n_runs[CTX_COMPARE_SIDES] = {work->spec->sides[CTX_COMPARE_A].n,
						  work->spec->sides[CTX_COMPARE_B].n};
	size_t n = work->diff->n_tested + 1;
	struct ctx_runs_row *rows CTX_AUTO_FREE = ctx_calloc(n, sizeof(*rows));
	double *sums CTX_AUTO_FREE = ctx_calloc(work->n * n, sizeof(*sums)), quantum = 0;
	struct ctx_runs runs;
	enum ctx_status status = rows != NULL && sums != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t i = 0; i < work->n && status == CTX_OK; i++) {
		if (has_samples(&work->recordings[i]))
			status = measure_run(work, i, sums + i * n, rows, err);
		else
			measure_trees(work, i, sums + i * n, rows);
		quantum += work->recordings[i].quantum / (double)work->n;
	}
	if (status != CTX_OK)
		return status;
	for (uint32_t row = 0; row < n; row++) {
		for (size_t i = 0; i < work->n; i++) {
			double away = sums[i * n + row] - rows[row].mean[work->recordings[i].side];

			rows[row].variance += away * away / (double)(work->n - CTX_COMPARE_SIDES);
		}
		/* Sums of a few samples that happen to be equal are no certainty. */
		rows[row].variance = fmax(rows[row].variance, quantum * quantum);
		/* What everything takes varies with the load and the clock, which the shares of functions do not. */
		rows[row].apart = row == work->diff->n_tested || noise_of(work, row) > CTX_DIFF_NOISE;
	}
	runs = (struct ctx_runs){rows, n, {n_runs[CTX_COMPARE_A], n_runs[CTX_COMPARE_B]}, sums, quantum};
	status = ctx_runs_judge(&runs, work->found, err);
	if (status == CTX_OK)
		status = ctx_runs_split(&runs, work->split, &work->diff->n_splits, err);
	return status;
}

static enum ctx_verdict verdict_of(const struct ctx_diff_item *item, double change)
{
	if (change > 0)
		return item != NULL && item->sides == 1u << CTX_COMPARE_B ? CTX_VERDICT_NEW
									  : CTX_VERDICT_SLOWER;
	return item != NULL && item->sides == 1u << CTX_COMPARE_A ? CTX_VERDICT_GONE : CTX_VERDICT_FASTER;
}

static enum ctx_status test_rows(struct work *work, struct ctx_err *err)
{
	struct ctx_diff *diff = work->diff;
	double *p CTX_AUTO_FREE = ctx_calloc(diff->n_tested + 1, sizeof(*p));
	bool *keep CTX_AUTO_FREE = ctx_calloc(diff->n_tested + 1, sizeof(*keep));
	double level = diff->n_splits != 0 ? ctx_runs_level(diff->n_splits) : 1;
	/* Splits that are too few for their level leave the rest to the other test. */
	double rate = diff->n_splits != 0 ? CTX_DIFF_RATE * CTX_DIFF_RATE / level : CTX_DIFF_RATE;
	enum ctx_status status = p != NULL && keep != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t i = 0; i < diff->n_tested && status == CTX_OK; i++)
		p[i] = work->found[i].p;
	if (status == CTX_OK)
		status = ctx_evidence_keep(p, diff->n_tested, rate, keep, err);
	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < diff->n_tested; i++) {
		struct ctx_diff_row *row = &diff->rows[i];

		row->tested = true;
		row->evidence = work->found[i];
		if (keep[i] && work->split[i] <= level)
			row->verdict = verdict_of(&diff->items.items[row->item], row->evidence.change);
	}
	/* All of it is all of it. */
	diff->total = work->spec->weighting.weights != CTX_WEIGHTS_SHARE ? work->found[diff->n_tested]
									 : ctx_evidence_of(0, 0, 0);
	if (diff->total.p <= rate && work->split[diff->n_tested] <= level)
		diff->total_verdict = verdict_of(NULL, diff->total.change);
	return CTX_OK;
}

static int by_change(const void *left, const void *right)
{
	const struct ctx_diff_row *a = left, *b = right;
	double x = fabs(a->evidence.change), y = fabs(b->evidence.change);

	if ((a->verdict == CTX_VERDICT_NONE) != (b->verdict == CTX_VERDICT_NONE))
		return a->verdict == CTX_VERDICT_NONE ? 1 : -1;
	if (x != y)
		return x < y ? 1 : -1;
	return by_weight(left, right);
}

enum ctx_status ctx_diff_make(const struct ctx_diff_spec *spec, struct ctx_diff *ret, struct ctx_err *err)
{
	struct work work = {.spec = spec, .diff = ret};
	enum ctx_status status;

	*ret = (struct ctx_diff){0};
	status = gather(&work, err);
	if (status == CTX_OK)
		status = find_items(&work, err);
	if (status == CTX_OK)
		status = weigh(&work, err);
	if (status == CTX_OK) {
		work.found = ctx_calloc(ret->n_tested + 1, sizeof(*work.found));
		work.split = ctx_calloc(ret->n_tested + 1, sizeof(*work.split));
		status = work.found == NULL || work.split == NULL ? ctx_err_nomem(err)
			 : work.n != CTX_COMPARE_SIDES		  ? compare_runs(&work, err)
			 : has_samples(&work.recordings[CTX_COMPARE_A]) &&
					 has_samples(&work.recordings[CTX_COMPARE_B])
				 ? compare_pairs(&work, err)
				 : compare_trees(&work);
	}
	if (status == CTX_OK)
		status = test_rows(&work, err);
	for (size_t i = 0; i < ret->n && status == CTX_OK; i++)
		ret->rows[i].evidence.change =
			ret->rows[i].weight[CTX_COMPARE_B] - ret->rows[i].weight[CTX_COMPARE_A];
	if (status == CTX_OK)
		qsort(ret->rows, ret->n, sizeof(*ret->rows), by_change);
	work_deinit(&work);
	if (status != CTX_OK)
		ctx_diff_deinit(ret);
	return status;
}

void ctx_diff_deinit(struct ctx_diff *diff)
{
	ctx_diff_items_deinit(&diff->items);
	free(diff->rows);
	*diff = (struct ctx_diff){0};
}
