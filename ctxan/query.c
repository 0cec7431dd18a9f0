#include "ctxan/query.h"

#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define RAW_ITEMS 256

/* The store as a reader of one tree. */
struct tree_place {
	struct ctx_store *store;
	uint32_t tree;
};

static enum ctx_status read_node(void *context, uint32_t node, bool want_lists, struct ctx_timenode *ret,
				 struct ctx_err *err)
{
	struct tree_place *place = context;

	return ctx_store_get_node(place->store, place->tree, node, want_lists, ret, err);
}

static enum ctx_status read_leaf(void *context, uint32_t node, const struct ctx_sample **ret_samples,
				 size_t *ret_n, struct ctx_err *err)
{
	struct tree_place *place = context;

	return ctx_store_get_leaf(place->store, place->tree, node, ret_samples, ret_n, err);
}

struct scan {
	struct ctx_query *query;
	const struct ctx_trie *cct;
	struct ctx_histogram *out;
};

static enum ctx_status scan_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct scan *scan = context;

	scan->query->samples_scanned++;
	if (!ctx_selection_has_cpu(scan->query->selection, sample->cpu))
		return CTX_OK;
	return ctx_histogram_add_samples(scan->out, scan->cct, sample, 1, err);
}

/* One tree, all intervals. */
static enum ctx_status query_tree(struct ctx_query *query, const struct ctx_tree_info *tree,
				  const struct ctx_interval *intervals, size_t n_intervals,
				  struct ctx_histogram *out, struct ctx_err *err)
{
	struct tree_place place = {query->store, tree->id};
	struct ctx_timetree_reader reader = {.context = &place, .node = read_node, .leaf = read_leaf};
	struct scan scan = {.query = query, .out = out};

	reader.cct = scan.cct = &ctx_store_profile(query->store)->cct;
	for (size_t i = 0; i < n_intervals; i++) {
		enum ctx_status status;

		if (query->selection->cpus != NULL)
			status =
				ctx_store_scan(query->store, tree->id, intervals[i], scan_sample, &scan, err);
		else
			status = ctx_timetree_query(&reader, intervals[i], query->flags, out, &query->cost,
						    err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

enum ctx_status ctx_query_histogram(struct ctx_query *query, uint32_t thread,
				    const struct ctx_interval *intervals, size_t n_intervals,
				    struct ctx_histogram *out, struct ctx_err *err)
{
	const struct ctx_selection *selection = query->selection;
	const struct ctx_tree_info *tree;

	if (thread != CTX_NONE || selection->threads == NULL) {
		tree = ctx_store_find_tree(query->store, thread, selection->metric);
		return tree != NULL ? query_tree(query, tree, intervals, n_intervals, out, err) : CTX_OK;
	}
	for (size_t i = 0; i < selection->n_threads; i++) {
		enum ctx_status status =
			ctx_query_histogram(query, selection->threads[i], intervals, n_intervals, out, err);

		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

/* A scan by raw stack. Samples wait until there are many: their places in a large histogram are looked up side by side. */
struct raw_scan {
	struct ctx_query *query;
	struct ctx_histogram *out;
	struct ctx_hist_item items[RAW_ITEMS];
	size_t n;
};

static enum ctx_status raw_flush(struct raw_scan *scan, struct ctx_err *err)
{
	size_t n = scan->n;

	scan->n = 0;
	return ctx_histogram_add_many(scan->out, scan->items, n, err);
}

static enum ctx_status raw_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct raw_scan *scan = context;

	scan->query->samples_scanned++;
	if (!ctx_selection_has_cpu(scan->query->selection, sample->cpu))
		return CTX_OK;
	scan->items[scan->n++] =
		(struct ctx_hist_item){.weight = sample->weight, .samples = 1, .stack = sample->raw_stack};
	return scan->n == RAW_ITEMS ? raw_flush(scan, err) : CTX_OK;
}

static enum ctx_status raw_thread(struct raw_scan *scan, uint32_t thread, struct ctx_err *err)
{
	const struct ctx_selection *selection = scan->query->selection;
	struct ctx_store *store = scan->query->store;
	const struct ctx_tree_info *tree = ctx_store_find_tree(store, thread, selection->metric);
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; tree != NULL && i < selection->n_intervals && status == CTX_OK; i++)
		status = ctx_store_scan(store, tree->id, selection->intervals[i], raw_sample, scan, err);
	return status;
}

enum ctx_status ctx_query_raw_histogram(struct ctx_query *query, struct ctx_histogram *out,
					struct ctx_err *err)
{
	const struct ctx_selection *selection = query->selection;
	struct raw_scan scan = {.query = query, .out = out};
	const struct ctx_code *code;
	enum ctx_status status = ctx_store_code(query->store, &code, err);

	if (status == CTX_OK)
		status = ctx_histogram_index(out, code->raw_stacks->n, err);
	if (status == CTX_OK && selection->threads == NULL)
		status = raw_thread(&scan, CTX_NONE, err);
	for (size_t i = 0; selection->threads != NULL && i < selection->n_threads && status == CTX_OK; i++)
		status = raw_thread(&scan, selection->threads[i], err);
	return status == CTX_OK ? raw_flush(&scan, err) : status;
}

static enum ctx_status add_part(struct ctx_query *query, uint32_t thread, struct ctx_query_parts *parts,
				struct ctx_err *err)
{
	struct ctx_histogram *histogram = &parts->histograms[parts->n];
	const struct ctx_selection *selection = query->selection;
	enum ctx_status status = CTX_OK;

	/* One part holds most stacks of the run; those of single threads are small. */
	if (thread == CTX_NONE)
		status = ctx_histogram_index(histogram, ctx_store_profile(query->store)->cct.n, err);
	if (status == CTX_OK)
		status = ctx_query_histogram(query, thread, selection->intervals, selection->n_intervals,
					     histogram, err);
	if (status != CTX_OK || (thread != CTX_NONE && histogram->n == 0))
		return status;
	parts->parts[parts->n++] = (struct ctx_report_part){.thread = thread, .histogram = histogram};
	return CTX_OK;
}

enum ctx_status ctx_query_parts(struct ctx_query *query, bool per_thread, struct ctx_query_parts *ret,
				struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	size_t n = per_thread ? ctx_selection_n_threads(query->selection, profile) : 1;
	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_query_parts){
		.parts = ctx_calloc(n, sizeof(*ret->parts)),
		.histograms = ctx_calloc(n + 1, sizeof(*ret->histograms)),
	};
	if (ret->parts == NULL || ret->histograms == NULL)
		status = ctx_err_nomem(err);
	for (size_t i = 0; status == CTX_OK && i < n; i++)
		status = add_part(query, per_thread ? ctx_selection_thread(query->selection, i) : CTX_NONE,
				  ret, err);
	if (status != CTX_OK)
		ctx_query_parts_free(ret);
	return status;
}

void ctx_query_parts_free(struct ctx_query_parts *parts)
{
	/* One more than n may hold memory: a part that failed half-way. */
	for (size_t i = 0; parts->histograms != NULL && i <= parts->n; i++)
		ctx_histogram_deinit(&parts->histograms[i]);
	free(parts->parts);
	free(parts->histograms);
	*parts = (struct ctx_query_parts){0};
}

enum ctx_status ctx_query_thread_sums(struct ctx_query *query, uint64_t **ret_samples, uint64_t **ret_weight,
				      struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	const struct ctx_selection *selection = query->selection;
	uint64_t *samples = ctx_calloc(profile->n_threads, sizeof(*samples));
	uint64_t *weight = ctx_calloc(profile->n_threads, sizeof(*weight));
	enum ctx_status status = samples != NULL && weight != NULL ? CTX_OK : ctx_err_nomem(err);
	struct ctx_histogram histogram = {0};

	for (size_t i = 0; status == CTX_OK && i < ctx_selection_n_threads(selection, profile); i++) {
		uint32_t thread = ctx_selection_thread(selection, i);

		ctx_histogram_clear(&histogram);
		status = ctx_query_histogram(query, thread, selection->intervals, selection->n_intervals,
					     &histogram, err);
		samples[thread] = histogram.samples;
		weight[thread] = histogram.weight;
	}
	ctx_histogram_deinit(&histogram);
	if (status != CTX_OK) {
		free(samples);
		free(weight);
		return status;
	}
	*ret_samples = samples;
	*ret_weight = weight;
	return CTX_OK;
}

/* The heaviest selected threads, by descending weight in the whole run. */
static size_t heaviest_threads(const struct ctx_query *query, size_t max, uint32_t *out)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	size_t n = 0;

	for (size_t i = 0; i < ctx_selection_n_threads(query->selection, profile); i++) {
		uint32_t thread = ctx_selection_thread(query->selection, i);
		size_t at = n;

		if (profile->threads[thread].samples == 0)
			continue;
		while (at > 0 && profile->threads[out[at - 1]].weight < profile->threads[thread].weight)
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

enum ctx_status ctx_query_slices(struct ctx_query *query, size_t per_thread, size_t max_threads,
				 struct ctx_report_slice **ret, size_t *ret_n, struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	const struct ctx_selection *selection = query->selection;
	struct ctx_interval hull = {selection->intervals[0].begin_ns,
				    selection->intervals[selection->n_intervals - 1].end_ns};
	uint32_t *threads CTX_AUTO_FREE = ctx_calloc(max_threads + 1, sizeof(*threads));
	uint64_t *weights CTX_AUTO_FREE = ctx_calloc(profile->n_functions, sizeof(*weights));
	struct ctx_report_slice *slices;
	enum ctx_status status;
	size_t n;

	if (threads == NULL || weights == NULL)
		return ctx_err_nomem(err);
	n = heaviest_threads(query, max_threads, threads);
	slices = ctx_calloc((n + 1) * per_thread, sizeof(*slices));
	if (slices == NULL)
		return ctx_err_nomem(err);
	status = fill_slices(query, CTX_NONE, hull, per_thread, weights, slices, err);
	for (size_t i = 0; status == CTX_OK && i < n; i++)
		status = fill_slices(query, threads[i], hull, per_thread, weights,
				     slices + (i + 1) * per_thread, err);
	if (status != CTX_OK) {
		free(slices);
		return status;
	}
	*ret = slices;
	*ret_n = (n + 1) * per_thread;
	return CTX_OK;
}

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
	const struct ctx_tree_info *tree =
		ctx_store_find_tree(query->store, CTX_NONE, query->selection->metric);
	struct levels levels = {0};
	char sql[512];
	enum ctx_status status;

	*ret = NULL;
	*ret_n = 0;
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
