#include "query/query_edges.h"
#include "query/query_impl.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Weights that order threads for the timeline: of the whole run and the first metric; of the selection for spans, which every
 * thread has. */
static enum ctx_status order_weights(struct ctx_query *query, uint64_t **ret, struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	const uint32_t metric = query->selection->metrics[0];
	uint64_t *samples = NULL, *weights;
	enum ctx_status status;

	if (metric < profile->n_metrics &&
	    (profile->metrics[metric].spans || profile->metrics[metric].parts != NULL)) {
		status = ctx_query_thread_sums(query, &samples, ret, err);
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

/* The heaviest selected threads, by descending weight. A thread that was only seen waiting is one too. */
static size_t heaviest_threads(const struct ctx_query *query, const uint64_t *weights, size_t max,
			       uint32_t *out)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	size_t n = 0;

	for (size_t i = 0; i < ctx_selection_n_threads(query->selection, profile); i++) {
		uint32_t thread = ctx_selection_thread(query->selection, i);
		size_t at = n;

		if (profile->threads[thread].samples == 0 && weights[thread] == 0 && !profile->has_states)
			continue;
		while (at > 0 && weights[out[at - 1]] < weights[thread])
			at--;
		if (at >= max)
			continue;
		n = n < max ? n + 1 : max;
		memmove(&out[at + 1], &out[at], (n - at - 1) * sizeof(*out));
		out[at] = thread;
	}
	return n;
}

/* The function with the largest exclusive weight; `weights` is zeros by function id, and is zeros again
 * afterwards. */
static uint32_t heaviest_function(const struct ctx_trie *cct, const struct ctx_histogram *histogram,
				  uint64_t *weights)
{
	uint32_t best = CTX_NONE;

	for (size_t i = 0; i < histogram->n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[i];
		uint32_t function = cct->key[entry->stack];

		if (function == CTX_TRIE_ROOT_KEY || entry->samples == 0)
			continue;
		weights[function] += entry->weight;
		if (best == CTX_NONE || weights[function] > weights[best] ||
		    (weights[function] == weights[best] && function < best))
			best = function;
	}
	for (size_t i = 0; i < histogram->n; i++) {
		uint32_t function = cct->key[histogram->entries[i].stack];

		if (function != CTX_TRIE_ROOT_KEY)
			weights[function] = 0;
	}
	return best;
}

/* The parts of the selected intervals that lie in a slice; `out` has room for all intervals. */
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

static enum ctx_status fill_slices(struct ctx_query *query, uint32_t thread, struct ctx_interval hull,
				   size_t n, uint64_t *weights, struct ctx_report_slice *out,
				   struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	struct ctx_interval *parts CTX_AUTO_FREE = ctx_calloc(query->selection->n_intervals, sizeof(*parts));
	struct ctx_histogram histogram = {0};
	enum ctx_status status = parts != NULL ? CTX_OK : ctx_err_nomem(err);
	uint64_t length = hull.end_ns - hull.begin_ns;

	for (size_t i = 0; status == CTX_OK && i < n; i++) {
		struct ctx_interval slice = {
			hull.begin_ns + (uint64_t)((unsigned __int128)length * i / n),
			hull.begin_ns + (uint64_t)((unsigned __int128)length * (i + 1) / n),
		};

		ctx_histogram_clear(&histogram);
		status = ctx_query_histogram(query, thread, parts,
					     selected_parts(query->selection, slice, parts), &histogram, err);
		out[i] = (struct ctx_report_slice){
			.thread = thread,
			.interval = slice,
			.samples = histogram.samples,
			.weight = histogram.weight,
			.function = heaviest_function(&profile->cct, &histogram, weights),
		};
	}
	ctx_histogram_deinit(&histogram);
	return status;
}

/* ---- how slices divide into states ---- */

/* The slices of one thread, and of all together: a span adds to every one that it lies in. */
struct state_scan {
	struct ctx_query *query;
	struct ctx_interval hull;
	size_t per_thread;
	enum ctx_thread_state state;
	struct ctx_report_slice *all, *own; /* own may be NULL: the thread is not shown */
};

static void add_part(const struct state_scan *scan, struct ctx_interval part)
{
	uint64_t length = scan->hull.end_ns - scan->hull.begin_ns;
	size_t i = (size_t)((unsigned __int128)(part.begin_ns - scan->hull.begin_ns) * scan->per_thread /
			    length);

	for (; i < scan->per_thread && scan->all[i].interval.begin_ns < part.end_ns; i++) {
		struct ctx_interval slice = scan->all[i].interval;
		uint64_t begin_ns = part.begin_ns > slice.begin_ns ? part.begin_ns : slice.begin_ns;
		uint64_t end_ns = part.end_ns < slice.end_ns ? part.end_ns : slice.end_ns;
		uint64_t ns = end_ns > begin_ns ? end_ns - begin_ns : 0;

		scan->all[i].state_ns[scan->state] += ns;
		if (scan->own != NULL)
			scan->own[i].state_ns[scan->state] += ns;
	}
}

/* Spans of one thread come in order of time: the first that goes on behind the hull is the last. */
static enum ctx_status scan_span(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	const struct state_scan *scan = context;
	const struct ctx_selection *selection = scan->query->selection;

	(void)err;
	scan->query->samples_scanned++;
	for (size_t i = 0; i < selection->n_intervals; i++) {
		struct ctx_sample span = *sample;

		if (ctx_sample_clip(&span, selection->intervals[i]) && ctx_selection_has(selection, &span))
			add_part(scan, (struct ctx_interval){ctx_sample_begin(&span), span.time_ns + 1});
	}
	return sample->time_ns >= scan->hull.end_ns ? CTX_END : CTX_OK;
}

static enum ctx_status scan_thread(struct state_scan *scan, uint32_t thread, struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(scan->query->store);
	struct ctx_interval window = {scan->hull.begin_ns, UINT64_MAX};
	enum ctx_status status = CTX_OK;

	if (!ctx_interval_overlaps(profile->threads[thread].life, scan->hull))
		return CTX_OK;
	for (unsigned s = 0; s < CTX_STATE_N && status == CTX_OK; s++) {
		const struct ctx_tree_info *tree;

		scan->state = (enum ctx_thread_state)s;
		tree = ctx_store_find_tree(scan->query->store, thread,
					   ctx_profile_state_metric(profile, scan->state));
		if (tree != NULL)
			status = ctx_store_scan(scan->query->store, tree->id,
						&(struct ctx_store_scan){window, scan_span, scan}, err);
	}
	return status;
}

/* `slices` are those of all together, then those of each of `threads`. One scan over the states of every selected thread. */
static enum ctx_status fill_states(struct ctx_query *query, struct ctx_interval hull, size_t per_thread,
				   const uint32_t *threads, size_t n_threads, struct ctx_report_slice *slices,
				   struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	struct state_scan scan = {.query = query, .hull = hull, .per_thread = per_thread, .all = slices};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < ctx_selection_n_threads(query->selection, profile) && status == CTX_OK; i++) {
		uint32_t thread = ctx_selection_thread(query->selection, i);
		size_t row = 0;

		while (row < n_threads && threads[row] != thread)
			row++;
		scan.own = row < n_threads ? slices + (row + 1) * per_thread : NULL;
		status = scan_thread(&scan, thread, err);
	}
	return status;
}

static enum ctx_status fill_rows(struct ctx_query *query, struct ctx_interval hull, size_t per_thread,
				 const uint32_t *threads, size_t n_threads, struct ctx_report_slice *slices,
				 struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	uint64_t *weights CTX_AUTO_FREE = ctx_calloc(profile->n_functions, sizeof(*weights));
	struct ctx_span_cache cache = {0};
	enum ctx_status status;

	if (weights == NULL)
		return ctx_err_nomem(err);
	/* The slices lie side by side: what lies over the end of one lies over the begin of the next. */
	query->spans = &cache;
	status = fill_slices(query, CTX_NONE, hull, per_thread, weights, slices, err);
	for (size_t i = 0; status == CTX_OK && i < n_threads; i++)
		status = fill_slices(query, threads[i], hull, per_thread, weights,
				     slices + (i + 1) * per_thread, err);
	query->spans = NULL;
	ctx_span_cache_deinit(&cache);
	if (status == CTX_OK && profile->has_states)
		status = fill_states(query, hull, per_thread, threads, n_threads, slices, err);
	return status;
}

enum ctx_status ctx_query_slices(struct ctx_query *query, size_t per_thread, size_t max_threads,
				 struct ctx_report_slice **ret, size_t *ret_n, struct ctx_err *err)
{
	struct ctx_interval hull = ctx_selection_hull(query->selection);
	uint32_t *threads CTX_AUTO_FREE = ctx_calloc(max_threads + 1, sizeof(*threads));
	uint64_t *weights CTX_AUTO_FREE = NULL;
	enum ctx_status status = threads != NULL ? order_weights(query, &weights, err) : ctx_err_nomem(err);
	struct ctx_report_slice *slices;
	size_t n;

	if (status != CTX_OK)
		return status;
	n = heaviest_threads(query, weights, max_threads, threads);
	slices = ctx_calloc((n + 1) * per_thread, sizeof(*slices));
	if (slices == NULL)
		return ctx_err_nomem(err);
	status = fill_rows(query, hull, per_thread, threads, n, slices, err);
	if (status != CTX_OK) {
		free(slices);
		return status;
	}
	*ret = slices;
	*ret_n = (n + 1) * per_thread;
	return CTX_OK;
}

/* ---- levels ---- */

struct levels {
	struct ctx_report_level *levels;
	size_t n, cap;
};

static enum ctx_status add_level(void *context, const struct ctx_sql_result_row *row, struct ctx_err *err)
{
	struct levels *levels = context;
	enum ctx_status status = ctx_grow(&levels->levels, &levels->cap, levels->n + 1, err);
	uint64_t values[6] = {0};

	if (status != CTX_OK)
		return status;
	for (int i = 0; i < row->n && i < (int)CTX_COUNT_OF(values); i++)
		values[i] = row->values[i] != NULL ? strtoull(row->values[i], NULL, 10) : 0;
	levels->levels[levels->n++] = (struct ctx_report_level){
		.level = (uint32_t)values[0],
		.nodes = values[1],
		.leaves = values[2],
		.samples_in_leaves = values[3],
		.top_bytes = values[4],
		.tail_bytes = values[5],
	};
	return CTX_OK;
}

enum ctx_status ctx_query_levels(struct ctx_query *query, struct ctx_report_level **ret, size_t *ret_n,
				 struct ctx_err *err)
{
	size_t n;
	const uint32_t *metrics =
		ctx_query_base_metrics(ctx_store_profile(query->store), query->selection->metrics, &n);
	const struct ctx_tree_info *tree = NULL;
	struct levels levels = {0};
	char sql[512];
	enum ctx_status status;

	*ret = NULL;
	*ret_n = 0;
	/* A sum is shown by the first of its parts that has a tree. */
	for (size_t i = 0; i < n && tree == NULL; i++)
		tree = ctx_store_find_tree(query->store, CTX_NONE, metrics[i]);
	if (tree == NULL)
		return CTX_OK;
	snprintf(sql, sizeof(sql),
		 "SELECT level, count(*), sum(n_children = 0), sum(CASE WHEN n_children = 0 THEN n ELSE 0 "
		 "END),"
		 " sum(coalesce(length(top), 0)), sum(coalesce(length(tail), 0))"
		 " FROM time_node WHERE tree = %u GROUP BY level ORDER BY level",
		 tree->id);
	status = ctx_store_sql(query->store, sql, add_level, &levels, err);
	if (status != CTX_OK) {
		free(levels.levels);
		return status;
	}
	*ret = levels.levels;
	*ret_n = levels.n;
	return CTX_OK;
}
