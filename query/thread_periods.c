#include "query/thread_periods.h"

#include "base/mem.h"
#include "query/tree_reader.h"
#include "timetree/period.h"
#include "timetree/phase_bins.h"

#include <math.h>
#include <stdlib.h>

#define THREADS 4u /* the heaviest */
#define MOST_STEPS 16384u
#define SERIES 4u	     /* of a thread: all samples, and the heaviest classes of stacks */
#define SAME 0.05	     /* by how much lengths of one period differ */
#define LEAST_VARIATION 0.22 /* standard deviation of a series, over its mean */
#define AS_STRONG 0.8	     /* of the strongest series: the first of these names the period */

struct finding {
	struct ctx_query *query;
	const struct ctx_tree_info *tree; /* of the thread */
	uint32_t thread;
	struct ctx_histogram histogram; /* of the thread */
	struct ctx_phase_classes classes;
	struct ctx_phases *ret;
	size_t cap;						     /* of ret->periods */
	struct ctx_interval stretches[CTX_THREAD_PERIODS_STRETCHES]; /* the longest first */
	size_t n_stretches;
};

/* ---- series ---- */

/* By class: its samples, with those of the classes below its node. `order`: the heaviest first; returns how many. */
static size_t order_classes(const struct ctx_phase_bins *bins, uint32_t order[SERIES])
{
	uint32_t n_classes = bins->classes->n;
	double sums[CTX_PHASE_CLASSES] = {0};
	size_t n = 0;

	for (size_t i = 0; i < bins->n; i++) {
		for (uint32_t c = 1; c < n_classes; c++)
			sums[c] += bins->cells[i * n_classes + c];
	}
	while (n < SERIES) {
		uint32_t best = 0;

		for (uint32_t c = 1; c < n_classes; c++)
			best = sums[c] > 0 && (best == 0 || sums[c] > sums[best]) ? c : best;
		if (best == 0)
			break;
		sums[best] = 0;
		order[n++] = best;
	}
	return n;
}

/* `class` 0: all samples. */
static void take_series(const struct ctx_phase_bins *bins, uint32_t class, double *ret)
{
	uint32_t n_classes = bins->classes->n;

	for (size_t i = 0; i < bins->n; i++) {
		ret[i] = class != 0 ? bins->cells[i * n_classes + class] : 0;
		for (uint32_t c = 1; c < n_classes && class == 0; c++)
			ret[i] += bins->cells[i * n_classes + c];
	}
}

/* ---- a thread ---- */

/* Whether a length is that of a period of the same thread, or several times as long. */
static bool is_multiple(uint64_t length_ns, uint32_t thread, const struct ctx_phase_period *period)
{
	double multiple = (double)length_ns / (double)period->length_ns;

	return period->thread == thread && fabs(multiple / fmax(round(multiple), 1) - 1) < SAME;
}

static bool is_known(const struct finding *finding, uint64_t length_ns)
{
	for (size_t i = 0; i < finding->ret->n_periods; i++) {
		if (is_multiple(length_ns, finding->thread, &finding->ret->periods[i]))
			return true;
	}
	return false;
}

/* Those of which a part of their length was found later. */
static void drop_multiples(struct ctx_phases *ret)
{
	size_t n = 0;

	for (size_t i = 0; i < ret->n_periods; i++) {
		struct ctx_phase_period period = ret->periods[i];
		bool drops = false;

		for (size_t j = i + 1; j < ret->n_periods; j++)
			drops |= is_multiple(period.length_ns, period.thread, &ret->periods[j]);
		if (!drops)
			ret->periods[n++] = period;
	}
	ret->n_periods = n;
}

static enum ctx_status put(struct finding *finding, const struct ctx_period *period, uint32_t class,
			   double step_ns, struct ctx_err *err)
{
	const struct ctx_trie *cct = &finding->query->profile->cct;
	uint64_t length_ns = (uint64_t)(period->length * step_ns + 0.5);
	enum ctx_status status;

	if (is_known(finding, length_ns))
		return CTX_OK;
	status = ctx_grow(&finding->ret->periods, &finding->cap, finding->ret->n_periods + 1, err);
	if (status == CTX_OK)
		finding->ret->periods[finding->ret->n_periods++] = (struct ctx_phase_period){
			.thread = finding->thread,
			.function = class != 0 && finding->classes.nodes[class] != CTX_TRIE_ROOT
					    ? cct->key[finding->classes.nodes[class]]
					    : CTX_NONE,
			.length_ns = length_ns,
			.jitter_ns = (uint64_t)(period->jitter * step_ns + 0.5),
			.cycles = period->cycles,
			.strength = period->strength};
	return status;
}

/*
 * Whether it varies by a fifth of its mean. A thread that is always busy has a sample in each step, now and then none or two, as
 * steps and samples fall together; that has a period, too.
 */
static bool varies(const double *series, size_t n)
{
	double sum = 0, squares = 0, mean;

	for (size_t i = 0; i < n; i++) {
		sum += series[i];
		squares += series[i] * series[i];
	}
	mean = sum / (double)n;
	return squares / (double)n - mean * mean >= LEAST_VARIATION * LEAST_VARIATION * mean * mean;
}

/* Of all series the first that is about as strong as the strongest. */
static enum ctx_status find_in(struct finding *finding, const struct ctx_phase_bins *bins,
			       struct ctx_err *err)
{
	double *series CTX_AUTO_FREE = ctx_calloc(bins->n, sizeof(*series));
	struct ctx_period periods[SERIES + 1] = {0};
	uint32_t classes[SERIES + 1] = {0};
	size_t n = 1 + order_classes(bins, classes + 1);
	enum ctx_status status = series != NULL ? CTX_OK : ctx_err_nomem(err);
	double strongest = 0, step_ns = (double)(bins->span.end_ns - bins->span.begin_ns) / (double)bins->n;

	n = n > SERIES ? SERIES : n;
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		take_series(bins, classes[i], series);
		if (!varies(series, bins->n))
			continue;
		status = ctx_period_find(series, bins->n, &periods[i], err);
		status = status == CTX_END ? CTX_OK : status;
		strongest = periods[i].strength > strongest ? periods[i].strength : strongest;
	}
	for (size_t i = 0; i < n && status == CTX_OK && strongest > 0; i++) {
		if (periods[i].strength >= AS_STRONG * strongest)
			return put(finding, &periods[i], classes[i], step_ns, err);
	}
	return status;
}

static enum ctx_status find_within(struct finding *finding, struct ctx_interval span, size_t steps,
				   struct ctx_err *err)
{
	struct ctx_tree_place place = {finding->query->store, finding->tree->id};
	struct ctx_timetree_reader reader = ctx_tree_reader(&place);
	struct ctx_phase_bins bins;
	enum ctx_status status = ctx_phase_bins_init(&bins, span, steps, &finding->classes, err);

	reader.cct = &finding->query->profile->cct;
	for (size_t i = 0; i < finding->query->selection->n_intervals && status == CTX_OK; i++) {
		struct ctx_interval part = finding->query->selection->intervals[i];

		part.begin_ns = part.begin_ns > span.begin_ns ? part.begin_ns : span.begin_ns;
		part.end_ns = part.end_ns < span.end_ns ? part.end_ns : span.end_ns;
		if (!ctx_interval_is_empty(part))
			status = ctx_phase_bins_add_tree(&bins, &reader, part, &finding->query->cost, err);
	}
	if (status == CTX_OK)
		status = find_in(finding, &bins, err);
	ctx_phase_bins_deinit(&bins);
	return status;
}

/* The middle of a stretch, in steps of a sample. */
static struct ctx_interval middle_of(struct ctx_interval stretch, uint64_t step_ns)
{
	uint64_t length = step_ns * MOST_STEPS, whole = stretch.end_ns - stretch.begin_ns;

	if (whole > length)
		stretch.begin_ns += (whole - length) / 2;
	if (whole > length)
		stretch.end_ns = stretch.begin_ns + length;
	return stretch;
}

static enum ctx_status find_periods(struct finding *finding, struct ctx_err *err)
{
	struct ctx_interval hull = ctx_selection_hull(finding->query->selection);
	uint64_t life = hull.end_ns - hull.begin_ns, step_ns, steps;
	enum ctx_status status;

	if (finding->histogram.samples < CTX_PHASE_LEAST_SAMPLES)
		return CTX_OK;
	/* A sample of a clock weighs its step. */
	step_ns = finding->histogram.weight / finding->histogram.samples;
	steps = step_ns != 0 ? life / step_ns : 0;
	status = ctx_phase_classes_make(&finding->query->profile->cct, &finding->histogram, &finding->classes,
					err);
	if (status == CTX_OK && steps != 0)
		status = find_within(finding, hull, steps < MOST_STEPS ? (size_t)steps : MOST_STEPS, err);
	for (size_t i = 0; i < finding->n_stretches && status == CTX_OK && steps != 0; i++) {
		struct ctx_interval stretch = middle_of(finding->stretches[i], step_ns);

		steps = (stretch.end_ns - stretch.begin_ns) / step_ns;
		if (steps != 0)
			status = find_within(finding, stretch, (size_t)steps, err);
	}
	return status;
}

static enum ctx_status find_thread(struct finding *finding, uint32_t thread, struct ctx_err *err)
{
	struct ctx_query *query = finding->query;
	uint32_t metric = query->selection->metrics[0];
	const struct ctx_query_scope scope = {.metric = metric, .thread = thread};
	enum ctx_status status;

	finding->thread = thread;
	finding->tree = ctx_store_find_tree(query->store, thread, metric);
	if (finding->tree == NULL)
		return CTX_OK;
	status = ctx_query_histogram(query, &scope, &finding->histogram, err);
	if (status == CTX_OK)
		status = find_periods(finding, err);
	ctx_histogram_deinit(&finding->histogram);
	ctx_phase_classes_deinit(&finding->classes);
	finding->histogram = (struct ctx_histogram){0};
	return status;
}

static uint64_t length_of(struct ctx_interval interval)
{
	return interval.end_ns - interval.begin_ns;
}

/* The longest phases in which something happens, if there are several. */
static void take_stretches(struct finding *finding, const struct ctx_phase_group *group)
{
	for (size_t i = 0; i < group->n && group->n > 1; i++) {
		struct ctx_interval interval = group->phases[i].interval;
		size_t at = finding->n_stretches;

		if (group->phases[i].idle)
			continue;
		while (at > 0 && length_of(finding->stretches[at - 1]) < length_of(interval))
			at--;
		if (at == CTX_THREAD_PERIODS_STRETCHES)
			continue;
		finding->n_stretches += finding->n_stretches < CTX_THREAD_PERIODS_STRETCHES;
		for (size_t j = finding->n_stretches - 1; j > at; j--)
			finding->stretches[j] = finding->stretches[j - 1];
		finding->stretches[at] = interval;
	}
	/* One phase: its middle, in steps of a sample, if the run has more of them. */
	if (group->n == 1)
		finding->stretches[finding->n_stretches++] = group->phases[0].interval;
}

static int strongest_first(const void *left, const void *right)
{
	const struct ctx_phase_period *a = left, *b = right;

	if (a->strength != b->strength)
		return a->strength > b->strength ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

enum ctx_status ctx_thread_periods_find(struct ctx_query *query, const struct ctx_phase_group *group,
					struct ctx_phases *ret, struct ctx_err *err)
{
	const struct ctx_profile *profile = query->profile;
	uint32_t metric = query->selection->metrics[0];
	struct finding finding = {.query = query, .ret = ret};
	uint64_t *samples CTX_AUTO_FREE = NULL, *weight CTX_AUTO_FREE = NULL;
	enum ctx_status status = CTX_OK;

	if (metric >= profile->n_metrics || !ctx_metric_is_time(&profile->metrics[metric]) ||
	    ctx_metric_is_clipped(&profile->metrics[metric]) || profile->metrics[metric].parts != NULL ||
	    ctx_selection_is_filtered(query->selection))
		return CTX_OK;
	take_stretches(&finding, group);
	status = ctx_query_thread_sums(query, metric, &samples, &weight, err);
	for (unsigned i = 0; i < THREADS && status == CTX_OK; i++) {
		uint32_t best = CTX_NONE;

		for (uint32_t t = 0; t < profile->n_threads; t++)
			best = samples[t] != 0 && (best == CTX_NONE || samples[t] > samples[best]) ? t : best;
		if (best == CTX_NONE)
			break;
		status = find_thread(&finding, best, err);
		samples[best] = 0;
	}
	drop_multiples(ret);
	if (ret->n_periods > 1)
		qsort(ret->periods, ret->n_periods, sizeof(*ret->periods), strongest_first);
	return status;
}
