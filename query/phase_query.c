#include "query/phase_query.h"

#include "base/mem.h"
#include "query/sample_scan.h"
#include "query/thread_periods.h"
#include "query/tree_reader.h"
#include "timetree/phase_bins.h"
#include "timetree/phase_segments.h"

#include <stdlib.h>

#define PROCESSES 8u /* of which the phases are looked for: the heaviest */

/* One group while it is searched: all selected threads, or those of a process. */
struct search {
	struct ctx_query *query;
	struct ctx_query_scope scope; /* of the selected metric; its thread: CTX_NONE all together */
	const uint32_t *threads;      /* NULL: all selected ones together */
	size_t n_threads;
	struct ctx_interval hull; /* what is divided */
	struct ctx_phase_bins bins;
	double mean; /* weight of a span */
};

static struct ctx_interval common_part(struct ctx_interval a, struct ctx_interval b)
{
	return (struct ctx_interval){a.begin_ns > b.begin_ns ? a.begin_ns : b.begin_ns,
				     a.end_ns < b.end_ns ? a.end_ns : b.end_ns};
}

/* ---- samples by bin ---- */

static enum ctx_status take(void *context, const struct ctx_sample *sample,
			    const struct ctx_traced *operation, struct ctx_err *err)
{
	struct search *search = context;

	(void)operation;
	if (sample->stack >= search->bins.classes->n_nodes)
		return ctx_err_set(err, CTX_E_FORMAT, "a sample with an unknown stack");
	if (search->mean > 0)
		ctx_phase_bins_add_span(&search->bins, sample, (double)sample->weight / search->mean);
	else
		ctx_phase_bins_add_sample(&search->bins, sample);
	return CTX_OK;
}

/* The samples of one thread, or of all, in one metric that has trees and one selected interval. */
static enum ctx_status add_interval(struct search *search, const struct ctx_query_scope *scope,
				    struct ctx_interval interval, struct ctx_err *err)
{
	struct ctx_query *query = search->query;
	const struct ctx_scan scan = {.metric = scope->metric,
				      .thread = scope->thread,
				      .interval = interval,
				      .each = take,
				      .context = search};
	const struct ctx_tree_info *tree = ctx_store_find_tree(query->store, scope->thread, scope->metric);
	struct ctx_timetree_reader reader;
	struct ctx_tree_place place;

	if (tree == NULL || ctx_interval_is_empty(interval))
		return CTX_OK;
	if (search->mean > 0 || ctx_selection_is_filtered(query->selection))
		return ctx_scan_samples(query, &scan, err);
	place = (struct ctx_tree_place){query->store, tree->id};
	reader = ctx_tree_reader(&place);
	reader.cct = &query->profile->cct;
	return ctx_phase_bins_add_tree(&search->bins, &reader, interval, &query->cost, err);
}

static enum ctx_status add_thread(struct search *search, uint32_t thread, struct ctx_err *err)
{
	const struct ctx_selection *selection = search->query->selection;
	struct ctx_query_scope scope = {.thread = thread};
	size_t n;
	const uint32_t *metrics = ctx_query_base_metrics(search->query->profile, &search->scope.metric, &n);
	enum ctx_status status = CTX_OK;

	for (size_t m = 0; m < n && status == CTX_OK; m++) {
		scope.metric = metrics[m];
		for (size_t i = 0; i < selection->n_intervals && status == CTX_OK; i++)
			status = add_interval(search, &scope,
					      common_part(selection->intervals[i], search->hull), err);
	}
	return status;
}

static enum ctx_status add_threads(struct search *search, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (search->threads == NULL)
		return add_thread(search, CTX_NONE, err);
	for (size_t i = 0; i < search->n_threads && status == CTX_OK; i++)
		status = add_thread(search, search->threads[i], err);
	return status;
}

/* The call stacks of the group in some intervals; NULL: in all selected ones. */
static enum ctx_status add_histogram(struct search *search, const struct ctx_interval *intervals, size_t n,
				     struct ctx_histogram *out, struct ctx_err *err)
{
	struct ctx_query_scope scope = search->scope;
	enum ctx_status status = CTX_OK;

	scope.intervals = intervals;
	scope.n_intervals = n;
	scope.thread = CTX_NONE;
	if (search->threads == NULL)
		return ctx_query_histogram(search->query, &scope, out, err);
	for (size_t i = 0; i < search->n_threads && status == CTX_OK; i++) {
		scope.thread = search->threads[i];
		status = ctx_query_histogram(search->query, &scope, out, err);
	}
	return status;
}

/* ---- a group ---- */

/* The selected parts of an interval; `out` has room for all intervals. */
static size_t selected_parts(const struct ctx_selection *selection, struct ctx_interval interval,
			     struct ctx_interval *out)
{
	size_t n = 0;

	for (size_t i = 0; i < selection->n_intervals; i++) {
		struct ctx_interval part = common_part(selection->intervals[i], interval);

		if (!ctx_interval_is_empty(part))
			out[n++] = part;
	}
	return n;
}

static bool is_idle(const struct ctx_phase_bins *bins, const struct ctx_phase_segment *segment)
{
	double idle = 0, all = 0;

	for (size_t i = segment->begin; i < segment->end; i++) {
		idle += bins->cells[i * bins->classes->n + CTX_PHASE_IDLE];
		for (uint32_t c = 0; c < bins->classes->n; c++)
			all += bins->cells[i * bins->classes->n + c];
	}
	return idle * 2 > all;
}

static enum ctx_status take_phases(struct search *search, struct ctx_phase_segments *found,
				   struct ctx_phase_group *group, struct ctx_err *err)
{
	group->phases = ctx_calloc(found->n, sizeof(*group->phases));
	if (group->phases == NULL)
		return ctx_err_nomem(err);
	group->n = found->n;
	group->n_letters = found->n_letters;
	group->similarity = found->similarity;
	found->similarity = NULL;
	for (size_t i = 0; i < found->n; i++) {
		const struct ctx_phase_segment *segment = &found->items[i];

		group->phases[i] = (struct ctx_phase){
			.interval = ctx_phase_bins_interval(&search->bins, segment->begin, segment->end),
			.letter = segment->letter,
			.idle = is_idle(&search->bins, segment)};
	}
	return CTX_OK;
}

static enum ctx_status add_histograms(struct search *search, const struct ctx_phase_group *group,
				      struct ctx_err *err)
{
	const struct ctx_selection *selection = search->query->selection;
	struct ctx_interval *parts CTX_AUTO_FREE = ctx_calloc(selection->n_intervals, sizeof(*parts));
	enum ctx_status status = parts != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t i = 0; i < group->n && status == CTX_OK; i++) {
		size_t n = selected_parts(selection, group->phases[i].interval, parts);

		status = add_histogram(search, parts, n, &group->phases[i].histogram, err);
	}
	return status;
}

/* The time that the group's threads waited for a processor in an interval. */
static enum ctx_status starved_ns(struct search *search, struct ctx_interval interval, uint64_t *ret,
				  struct ctx_err *err)
{
	struct ctx_query *query = search->query;
	struct ctx_query_scope scope = {.metric =
						ctx_profile_state_metric(query->profile, CTX_STATE_WAIT_CPU),
					.intervals = &interval,
					.n_intervals = 1};
	size_t n = search->threads != NULL ? search->n_threads : 1;
	struct ctx_histogram scratch = {0};
	enum ctx_status status = CTX_OK;

	*ret = 0;
	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		struct ctx_report_sum sum = {0};

		scope.thread = search->threads != NULL ? search->threads[i] : CTX_NONE;
		status = ctx_query_sum(query, &scope, &scratch, &sum, err);
		*ret += sum.weight;
	}
	ctx_histogram_deinit(&scratch);
	return status;
}

/* A program that waits for a processor is not idle: it had one of others. Only thread states tell. */
static enum ctx_status drop_starved(struct search *search, struct ctx_err *err)
{
	const struct ctx_phase_bins *bins = &search->bins;
	size_t n_classes = bins->classes->n;

	for (size_t i = 0, end; i < bins->n; i = end) {
		struct ctx_interval interval;
		enum ctx_status status;
		uint64_t starved;

		end = i + 1;
		if (bins->cells[i * n_classes + CTX_PHASE_IDLE] <= 0)
			continue;
		while (end < bins->n && bins->cells[end * n_classes + CTX_PHASE_IDLE] > 0)
			end++;
		interval = ctx_phase_bins_interval(bins, i, end);
		status = starved_ns(search, interval, &starved, err);
		if (status != CTX_OK)
			return status;
		for (size_t bin = i; bin < end && starved >= (interval.end_ns - interval.begin_ns) / 2; bin++)
			bins->cells[bin * n_classes + CTX_PHASE_IDLE] = 0;
	}
	return CTX_OK;
}

static enum ctx_status divide(struct search *search, const struct ctx_phase_classes *classes,
			      struct ctx_phase_group *group, struct ctx_err *err)
{
	struct ctx_phase_segments found = {0};
	enum ctx_status status = ctx_phase_bins_init(&search->bins, search->hull,
						     ctx_phase_bins_wanted(group->samples), classes, err);

	if (status == CTX_OK)
		status = add_threads(search, err);
	if (status == CTX_OK)
		status = ctx_phase_bins_find_idle(&search->bins, err);
	if (status == CTX_OK && search->query->profile->has_states)
		status = drop_starved(search, err);
	if (status == CTX_OK)
		status = ctx_phases_find(
			&(struct ctx_phase_counts){search->bins.cells, search->bins.n, classes->n}, &found,
			err);
	if (status == CTX_OK)
		status = take_phases(search, &found, group, err);
	ctx_phase_segments_deinit(&found);
	ctx_phase_bins_deinit(&search->bins);
	return status;
}

static enum ctx_status find(struct search *search, bool details, struct ctx_phase_group *group,
			    struct ctx_err *err)
{
	const struct ctx_profile *profile = search->query->profile;
	struct ctx_phase_classes classes = {0};
	struct ctx_histogram all = {0};
	enum ctx_status status = add_histogram(search, NULL, 0, &all, err);

	group->samples = all.samples;
	group->too_few = all.samples < CTX_PHASE_LEAST_SAMPLES;
	if (all.samples != 0 && search->scope.metric < profile->n_metrics) {
		size_t n;
		const uint32_t *metrics = ctx_query_base_metrics(profile, &search->scope.metric, &n);

		if (n != 0 && ctx_metric_is_clipped(&profile->metrics[metrics[0]]))
			search->mean = (double)all.weight / (double)all.samples;
	}
	if (status == CTX_OK && !group->too_few)
		status = ctx_phase_classes_make(&profile->cct, &all, &classes, err);
	if (status == CTX_OK && !group->too_few)
		status = divide(search, &classes, group, err);
	if (status == CTX_OK && details)
		status = add_histograms(search, group, err);
	ctx_phase_classes_deinit(&classes);
	ctx_histogram_deinit(&all);
	return status;
}

/* ---- processes ---- */

struct candidate {
	uint64_t samples;
	uint32_t process;
};

static int heaviest_first(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->samples != b->samples)
		return a->samples > b->samples ? -1 : 1;
	return a->process < b->process ? -1 : a->process > b->process;
}

/* By process: the samples of its selected threads. `*ret_n`: those that have any. */
static enum ctx_status order_processes(struct ctx_query *query, struct candidate *candidates, size_t *ret_n,
				       struct ctx_err *err)
{
	const struct ctx_profile *profile = query->profile;
	uint64_t *samples CTX_AUTO_FREE = NULL, *weight CTX_AUTO_FREE = NULL;
	enum ctx_status status =
		ctx_query_thread_sums(query, query->selection->metrics[0], &samples, &weight, err);

	*ret_n = 0;
	if (status != CTX_OK)
		return status;
	for (uint32_t i = 0; i < profile->n_processes; i++)
		candidates[i] = (struct candidate){.process = i};
	for (uint32_t i = 0; i < profile->n_threads; i++) {
		if (profile->threads[i].process < profile->n_processes)
			candidates[profile->threads[i].process].samples += samples[i];
	}
	qsort(candidates, profile->n_processes, sizeof(*candidates), heaviest_first);
	while (*ret_n < profile->n_processes && candidates[*ret_n].samples != 0)
		++*ret_n;
	return CTX_OK;
}

/* The selected threads of a process; `threads` has room for all. */
static size_t threads_of(const struct ctx_query *query, uint32_t process, uint32_t *threads)
{
	size_t n = 0;

	for (size_t i = 0; i < ctx_selection_n_threads(query->selection, query->profile); i++) {
		uint32_t thread = ctx_selection_thread(query->selection, i);

		if (ctx_profile_process_of(query->profile, thread) == process)
			threads[n++] = thread;
	}
	return n;
}

static enum ctx_status find_processes(const struct search *all, struct ctx_phases *ret, struct ctx_err *err)
{
	const struct ctx_profile *profile = all->query->profile;
	struct candidate *candidates CTX_AUTO_FREE =
		ctx_calloc(profile->n_processes + 1u, sizeof(*candidates));
	uint32_t *threads CTX_AUTO_FREE = ctx_calloc(profile->n_threads + 1u, sizeof(*threads));
	enum ctx_status status = candidates != NULL && threads != NULL ? CTX_OK : ctx_err_nomem(err);
	size_t n = 0;

	if (status == CTX_OK)
		status = order_processes(all->query, candidates, &n, err);
	for (size_t i = 0; i < n && n > 1 && status == CTX_OK; i++) {
		struct ctx_phase_group *group = &ret->groups[ret->n_groups];
		struct search search = {.query = all->query, .scope = all->scope, .threads = threads};

		if (i >= PROCESSES || candidates[i].samples < CTX_PHASE_LEAST_SAMPLES) {
			ret->processes_left_out = n - i;
			break;
		}
		search.n_threads = threads_of(all->query, candidates[i].process, threads);
		search.hull = common_part(profile->processes[candidates[i].process].life, all->hull);
		if (ctx_interval_is_empty(search.hull))
			search.hull = all->hull; /* samples of a process whose life is not known */
		*group = (struct ctx_phase_group){.process = candidates[i].process};
		ret->n_groups++;
		status = find(&search, true, group, err);
	}
	return status;
}

/* Where the processes of the selected threads lived; all of it where that is not known. */
static struct ctx_interval lives_in(const struct ctx_query *query, struct ctx_interval hull)
{
	const struct ctx_selection *selection = query->selection;
	struct ctx_interval lived = {UINT64_MAX, 0};

	for (size_t i = 0; i < selection->n_threads && selection->threads != NULL; i++) {
		uint32_t process = ctx_profile_process_of(query->profile, selection->threads[i]);
		struct ctx_interval life;

		if (process >= query->profile->n_processes)
			return hull;
		life = common_part(query->profile->processes[process].life, hull);
		/* Samples of a process whose life is not known. */
		if (ctx_interval_is_empty(life))
			return hull;
		lived.begin_ns = lived.begin_ns < life.begin_ns ? lived.begin_ns : life.begin_ns;
		lived.end_ns = lived.end_ns > life.end_ns ? lived.end_ns : life.end_ns;
	}
	return ctx_interval_is_empty(lived) ? hull : lived;
}

enum ctx_status ctx_query_phases(struct ctx_query *query, bool details, struct ctx_phases *ret,
				 struct ctx_err *err)
{
	struct ctx_phases phases = {.groups = ctx_calloc(1 + PROCESSES, sizeof(*phases.groups))};
	struct search all = {.query = query,
			     .scope = {.metric = query->selection->metrics[0], .thread = CTX_NONE},
			     .hull = lives_in(query, ctx_selection_hull(query->selection)),
			     .threads = query->selection->threads,
			     .n_threads = query->selection->n_threads};
	enum ctx_status status;

	if (phases.groups == NULL)
		return ctx_err_nomem(err);
	phases.n_groups = 1;
	phases.groups[0].process = CTX_NONE;
	status = find(&all, details, &phases.groups[0], err);
	if (status == CTX_OK && details)
		status = find_processes(&all, &phases, err);
	if (status == CTX_OK && details)
		status = ctx_thread_periods_find(query, &phases.groups[0], &phases, err);
	if (status != CTX_OK)
		ctx_phases_deinit(&phases);
	else
		*ret = phases;
	return status;
}

enum ctx_status ctx_query_phases_of_run(struct ctx_store *store, struct ctx_phases *ret, struct ctx_err *err)
{
	return ctx_query_phases_of_process(store, NULL, ret, err);
}

enum ctx_status ctx_query_phases_of_process(struct ctx_store *store, const char *processes,
					    struct ctx_phases *ret, struct ctx_err *err)
{
	const struct ctx_selection_spec words = {.processes = processes};
	struct ctx_selection selection = {0};
	struct ctx_query query;
	enum ctx_status status = ctx_selection_make(&words, ctx_store_profile(store), &selection, err);

	if (status != CTX_OK)
		return status;
	ctx_query_init(&query, store, &selection, CTX_TIMETREE_NO_CALLS);
	status = ctx_query_phases(&query, false, ret, err);
	ctx_query_deinit(&query);
	ctx_selection_deinit(&selection);
	return status;
}
