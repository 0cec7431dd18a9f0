#include "query/deepest_call.h"
#include "query/query.h"
#include "query/span_parts.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

struct timeline {
	struct ctx_query *query;
	uint32_t metric;
	struct ctx_interval hull; /* of the selected intervals */
	size_t per_row;		  /* slices */
	const uint32_t *threads;  /* threads with a row, the heaviest first; after the row of all threads */
	size_t n_threads;
	struct ctx_report_slice *slices; /* by row */
};

/* Weights for sorting threads in the timeline: of the whole run and the first metric; of the
 * selection for spans, which every thread has. */
static enum ctx_status order_weights(struct ctx_query *query, uint32_t metric, uint64_t **ret,
				     struct ctx_err *err)
{
	const struct ctx_profile *profile = query->profile;
	uint64_t *samples = NULL, *weights;
	enum ctx_status status;

	if (metric < profile->n_metrics &&
	    (ctx_metric_is_clipped(&profile->metrics[metric]) || profile->metrics[metric].parts != NULL)) {
		status = ctx_query_thread_sums(query, metric, &samples, ret, err);
		free(samples);
		return status;
	}
	weights = ctx_calloc(profile->n_threads, sizeof(*weights));
	if (weights == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_threads; i++)
		weights[i] = profile->threads[i].weight;
	*ret = weights;
	return CTX_OK;
}

struct candidate {
	uint64_t weight;
	uint32_t thread;
};

/* The heaviest first; ties by thread. */
static int compare_candidates(const void *left, const void *right)
{
	const struct candidate *a = left, *b = right;

	if (a->weight != b->weight)
		return a->weight > b->weight ? -1 : 1;
	return a->thread < b->thread ? -1 : a->thread > b->thread;
}

/*
 * The selected threads by descending weight, in `threads`, which has room for all. A thread that
 * only waited counts too.
 */
static enum ctx_status order_threads(const struct ctx_query *query, const uint64_t *weights,
				     uint32_t *threads, size_t *ret_n, struct ctx_err *err)
{
	const struct ctx_profile *profile = query->profile;
	size_t n_selected = ctx_selection_n_threads(query->selection, profile), n = 0;
	struct candidate *candidates CTX_AUTO_FREE = ctx_calloc(n_selected, sizeof(*candidates));

	if (candidates == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n_selected; i++) {
		uint32_t thread = ctx_selection_thread(query->selection, i);

		if (profile->threads[thread].samples != 0 || weights[thread] != 0 || profile->has_states)
			candidates[n++] = (struct candidate){weights[thread], thread};
	}
	qsort(candidates, n, sizeof(*candidates), compare_candidates);
	for (size_t i = 0; i < n; i++)
		threads[i] = candidates[i].thread;
	*ret_n = n;
	return CTX_OK;
}

/* The function at the leaf of a stack, as it is shown. */
static uint32_t leaf_of(const struct ctx_query *query, uint32_t stack)
{
	const struct ctx_index_stacks *shown = query->shown;

	return shown != NULL && stack < shown->n ? shown->profile->cct.key[shown->stack_of[stack]]
						 : query->profile->cct.key[stack];
}

static uint32_t count_functions(const struct ctx_query *query)
{
	return query->shown != NULL ? query->shown->profile->n_functions : query->profile->n_functions;
}

/*
 * The function with the largest exclusive weight; `weights` is zeros by function id, and is zeros
 * again afterwards.
 */
static uint32_t heaviest_function(const struct ctx_query *query, const struct ctx_histogram *histogram,
				  uint64_t *weights)
{
	uint32_t best = CTX_NONE;

	for (size_t i = 0; i < histogram->n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[i];
		uint32_t function = leaf_of(query, entry->stack);

		if (function == CTX_TRIE_ROOT_KEY || entry->samples == 0)
			continue;
		weights[function] += entry->weight;
		if (best == CTX_NONE || weights[function] > weights[best] ||
		    (weights[function] == weights[best] && function < best))
			best = function;
	}
	for (size_t i = 0; i < histogram->n; i++) {
		uint32_t function = leaf_of(query, histogram->entries[i].stack);

		if (function != CTX_TRIE_ROOT_KEY)
			weights[function] = 0;
	}
	return best;
}

/* The parts of the selected intervals inside a slice; `out` has room for all intervals. */
static size_t selected_parts(const struct ctx_selection *selection, struct ctx_interval slice,
			     struct ctx_interval *out)
{
	size_t n = 0;

	for (size_t i = 0; i < selection->n_intervals; i++) {
		struct ctx_interval part = selection->intervals[i];

		part.begin_ns = part.begin_ns > slice.begin_ns ? part.begin_ns : slice.begin_ns;
		part.end_ns = part.end_ns < slice.end_ns ? part.end_ns : slice.end_ns;
		if (!ctx_interval_is_empty(part))
			out[n++] = part;
	}
	return n;
}

/* The slices of a row: all threads together, or one of the shown threads. */
static enum ctx_status fill_row(const struct timeline *timeline, size_t row, uint64_t *weights,
				struct ctx_deepest_call *deepest, struct ctx_err *err)
{
	struct ctx_query *query = timeline->query;
	struct ctx_interval *parts CTX_AUTO_FREE = ctx_calloc(query->selection->n_intervals, sizeof(*parts));
	struct ctx_query_scope scope = {.metric = timeline->metric,
					.thread = row == 0 ? CTX_NONE : timeline->threads[row - 1],
					.intervals = parts};
	struct ctx_report_slice *out = timeline->slices + row * timeline->per_row;
	struct ctx_interval hull = timeline->hull;
	struct ctx_histogram histogram = {0};
	enum ctx_status status = parts != NULL ? CTX_OK : ctx_err_nomem(err);
	uint64_t length = hull.end_ns - hull.begin_ns;

	for (size_t i = 0, n = timeline->per_row; status == CTX_OK && i < n; i++) {
		struct ctx_interval slice = {
			hull.begin_ns + (uint64_t)((unsigned __int128)length * i / n),
			hull.begin_ns + (uint64_t)((unsigned __int128)length * (i + 1) / n),
		};

		scope.n_intervals = selected_parts(query->selection, slice, parts);
		ctx_histogram_clear(&histogram);
		status = ctx_query_histogram(query, &scope, &histogram, err);
		out[i] = (struct ctx_report_slice){
			.thread = scope.thread,
			.interval = slice,
			.samples = histogram.samples,
			.weight = histogram.weight,
			.function = heaviest_function(query, &histogram, weights),
		};
		if (status != CTX_OK || deepest == NULL)
			continue;
		status = ctx_deepest_call_find(deepest, &query->profile->cct, &histogram, histogram.weight,
					       err);
		out[i].call = deepest->found;
	}
	ctx_histogram_deinit(&histogram);
	return status;
}

/* ---- calls of slices ---- */

/* Of a row of one thread. */
static enum ctx_status fill_calls(const struct timeline *timeline, size_t row,
				  struct ctx_deepest_call *deepest, struct ctx_err *err)
{
	struct ctx_query *query = timeline->query;
	struct ctx_interval *parts CTX_AUTO_FREE = ctx_calloc(query->selection->n_intervals, sizeof(*parts));
	struct ctx_query_scope scope = {.metric = ctx_profile_elapsed_metric(query->profile),
					.thread = timeline->threads[row - 1],
					.intervals = parts};
	struct ctx_report_slice *slices = timeline->slices + row * timeline->per_row;
	struct ctx_histogram histogram = {0};
	enum ctx_status status = parts != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t i = 0; status == CTX_OK && i < timeline->per_row; i++) {
		uint64_t selected_ns = 0;

		scope.n_intervals = selected_parts(query->selection, slices[i].interval, parts);
		for (size_t k = 0; k < scope.n_intervals; k++)
			selected_ns += parts[k].end_ns - parts[k].begin_ns;
		ctx_histogram_clear(&histogram);
		status = ctx_query_histogram(query, &scope, &histogram, err);
		if (status == CTX_OK)
			status = ctx_deepest_call_find(deepest, &query->profile->cct, &histogram, selected_ns,
						       err);
		slices[i].call = deepest->found;
		slices[i].entered = deepest->entered;
	}
	ctx_histogram_deinit(&histogram);
	return status;
}

static enum ctx_status fill_all_calls(const struct timeline *timeline, struct ctx_err *err)
{
	unsigned flags = timeline->query->flags;
	struct ctx_deepest_call deepest = {0};
	enum ctx_status status = CTX_OK;

	timeline->query->flags &= ~(unsigned)CTX_TIMETREE_NO_CALLS;
	for (size_t row = 1; status == CTX_OK && row <= timeline->n_threads; row++)
		status = fill_calls(timeline, row, &deepest, err);
	timeline->query->flags = flags;
	ctx_deepest_call_deinit(&deepest);
	return status;
}

/* ---- states of slices ---- */

/* The slices of one thread, and of all together: a span adds to every slice that it overlaps. */
struct state_scan {
	const struct timeline *timeline;
	enum ctx_thread_state state;
	struct ctx_report_slice *own; /* NULL: the thread is not shown */
};

static void add_part(const struct state_scan *scan, struct ctx_interval part)
{
	const struct timeline *timeline = scan->timeline;
	struct ctx_interval hull = timeline->hull;
	struct ctx_report_slice *all = timeline->slices;
	uint64_t length = hull.end_ns - hull.begin_ns;
	size_t i = (size_t)((unsigned __int128)(part.begin_ns - hull.begin_ns) * timeline->per_row / length);

	for (; i < timeline->per_row && all[i].interval.begin_ns < part.end_ns; i++) {
		struct ctx_interval slice = all[i].interval;
		uint64_t begin_ns = part.begin_ns > slice.begin_ns ? part.begin_ns : slice.begin_ns;
		uint64_t end_ns = part.end_ns < slice.end_ns ? part.end_ns : slice.end_ns;
		uint64_t ns = end_ns > begin_ns ? end_ns - begin_ns : 0;

		all[i].state_ns[scan->state] += ns;
		if (scan->own != NULL)
			scan->own[i].state_ns[scan->state] += ns;
	}
}

static enum ctx_status add_kept(const struct state_scan *scan, const struct ctx_sample *span,
				struct ctx_err *err)
{
	struct ctx_span_parts parts;
	struct ctx_sample part;
	enum ctx_status status;

	ctx_span_parts_kept(scan->timeline->query->selection, span, &parts);
	while ((status = ctx_span_parts_next(&parts, &part, err)) == CTX_OK)
		add_part(scan, (struct ctx_interval){ctx_sample_begin(&part), part.time_ns + 1});
	return status == CTX_END ? CTX_OK : status;
}

/* Spans of one thread are in order of time: the first that extends beyond the hull is the last. */
static enum ctx_status scan_span(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	const struct state_scan *scan = context;
	struct ctx_query *query = scan->timeline->query;
	const struct ctx_selection *selection = query->selection;
	enum ctx_status status = CTX_OK;

	query->samples_scanned++;
	for (size_t i = 0; i < selection->n_intervals && status == CTX_OK; i++) {
		struct ctx_sample span = *sample;

		if (ctx_sample_clip(&span, selection->intervals[i]) &&
		    ctx_selection_has_cpu(selection, span.cpu))
			status = add_kept(scan, &span, err);
	}
	if (status != CTX_OK)
		return status;
	return sample->time_ns >= scan->timeline->hull.end_ns ? CTX_END : CTX_OK;
}

static enum ctx_status scan_thread(struct state_scan *scan, uint32_t thread, struct ctx_err *err)
{
	const struct ctx_query *query = scan->timeline->query;
	const struct ctx_profile *profile = query->profile;
	struct ctx_interval window = {scan->timeline->hull.begin_ns, UINT64_MAX};
	enum ctx_status status = CTX_OK;

	if (!ctx_interval_overlaps(profile->threads[thread].life, scan->timeline->hull))
		return CTX_OK;
	for (unsigned s = 0; s < CTX_STATE_N && status == CTX_OK; s++) {
		const struct ctx_tree_info *tree;

		scan->state = (enum ctx_thread_state)s;
		tree = ctx_store_find_tree(query->store, thread,
					   ctx_profile_state_metric(profile, scan->state));
		if (tree != NULL)
			status = ctx_store_scan(query->store, tree->id,
						&(struct ctx_store_scan){window, scan_span, scan}, err);
	}
	return status;
}

/* One scan over the states of every selected thread. */
static enum ctx_status fill_states(const struct timeline *timeline, struct ctx_err *err)
{
	const struct ctx_selection *selection = timeline->query->selection;
	struct state_scan scan = {.timeline = timeline};
	enum ctx_status status = CTX_OK;
	size_t n = ctx_selection_n_threads(selection, timeline->query->profile);

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		uint32_t thread = ctx_selection_thread(selection, i);
		size_t row = 0;

		while (row < timeline->n_threads && timeline->threads[row] != thread)
			row++;
		scan.own =
			row < timeline->n_threads ? timeline->slices + (row + 1) * timeline->per_row : NULL;
		status = scan_thread(&scan, thread, err);
	}
	return status;
}

static enum ctx_status fill(const struct timeline *timeline, struct ctx_err *err)
{
	const struct ctx_profile *profile = timeline->query->profile;
	uint64_t *weights CTX_AUTO_FREE = ctx_calloc(count_functions(timeline->query), sizeof(*weights));
	bool has_calls = ctx_profile_elapsed_metric(profile) != CTX_NONE;
	struct ctx_deepest_call deepest = {0};
	enum ctx_status status = weights != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t row = 0; status == CTX_OK && row <= timeline->n_threads; row++)
		status = fill_row(timeline, row, weights, row != 0 && !has_calls ? &deepest : NULL, err);
	ctx_deepest_call_deinit(&deepest);
	if (status == CTX_OK && has_calls)
		status = fill_all_calls(timeline, err);
	if (status == CTX_OK && profile->has_states)
		status = fill_states(timeline, err);
	return status;
}

enum ctx_status ctx_query_slices(struct ctx_query *query, const struct ctx_query_slicing *slicing,
				 struct ctx_report_slices *ret, struct ctx_err *err)
{
	size_t n_threads = ctx_selection_n_threads(query->selection, query->profile);
	uint32_t *threads CTX_AUTO_FREE = ctx_calloc(n_threads, sizeof(*threads));
	uint64_t *weights CTX_AUTO_FREE = NULL;
	struct timeline timeline = {.query = query,
				    .metric = slicing->metric,
				    .hull = ctx_selection_hull(query->selection),
				    .per_row = slicing->per_thread,
				    .threads = threads};
	enum ctx_status status =
		threads != NULL ? order_weights(query, slicing->metric, &weights, err) : ctx_err_nomem(err);
	size_t n;

	if (status == CTX_OK)
		status = order_threads(query, weights, threads, &n_threads, err);
	if (status != CTX_OK)
		return status;
	timeline.n_threads = slicing->max_threads < n_threads ? slicing->max_threads : n_threads;
	n = (timeline.n_threads + 1) * slicing->per_thread;
	timeline.slices = ctx_calloc(n, sizeof(*timeline.slices));
	if (timeline.slices == NULL)
		return ctx_err_nomem(err);
	status = fill(&timeline, err);
	if (status != CTX_OK) {
		free(timeline.slices);
		return status;
	}
	*ret = (struct ctx_report_slices){timeline.slices, n, slicing->per_thread,
					  n_threads - timeline.n_threads};
	return CTX_OK;
}
