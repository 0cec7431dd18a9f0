#include "query/query.h"

#include "base/mem.h"
#include "query/query_edges.h"
#include "query/query_impl.h"

#include <stdlib.h>

#define RAW_ITEMS 256

struct scan {
	const struct ctx_trie *cct;
	struct ctx_histogram *out;
};

static enum ctx_status scan_sample(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	const struct scan *scan = context;

	return ctx_histogram_add_samples(scan->out, scan->cct, sample, 1, err);
}

/* One metric that has trees, one thread or all of the recording. */
static enum ctx_status query_base(struct ctx_query *query, uint32_t thread, uint32_t metric,
				  const struct ctx_interval *intervals, size_t n_intervals,
				  struct ctx_histogram *out, struct ctx_err *err)
{
	const struct ctx_tree_info *tree = ctx_store_find_tree(query->store, thread, metric);
	struct ctx_tree_place place = {query->store, tree != NULL ? tree->id : 0};
	struct ctx_timetree_reader reader = ctx_query_tree_reader(&place);
	struct scan scan = {.cct = &ctx_store_profile(query->store)->cct, .out = out};
	enum ctx_status status = CTX_OK;

	reader.cct = scan.cct;
	for (size_t i = 0; i < n_intervals && tree != NULL && status == CTX_OK; i++) {
		if (ctx_selection_has_sieve(query->selection)) {
			status = ctx_query_scan(query, thread, metric, intervals[i], scan_sample, &scan, err);
			continue;
		}
		status =
			ctx_timetree_query(&reader, (struct ctx_timetree_request){intervals[i], query->flags},
					   out, &query->cost, err);
		if (status == CTX_OK)
			status = ctx_query_edges_correct(query, thread, metric, intervals[i], out, err);
	}
	return status;
}

static enum ctx_status query_thread(struct ctx_query *query, uint32_t thread, uint32_t metric,
				    const struct ctx_interval *intervals, size_t n_intervals,
				    struct ctx_histogram *out, struct ctx_err *err)
{
	size_t n;
	const uint32_t *metrics = ctx_query_base_metrics(ctx_store_profile(query->store), &metric, &n);
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++)
		status = query_base(query, thread, metrics[i], intervals, n_intervals, out, err);
	return status;
}

static bool is_count(const struct ctx_profile *profile, uint32_t metric)
{
	return metric < profile->n_metrics && profile->metrics[metric].counts;
}

/* How many samples there are is what weighs. `cost` is the query's as it was before they were added. */
static void count_samples(struct ctx_query *query, const struct ctx_timetree_cost *cost,
			  struct ctx_histogram *out)
{
	uint64_t omitted = query->cost.omitted_samples - cost->omitted_samples;

	for (size_t i = 0; i < out->n; i++)
		out->entries[i].weight = out->entries[i].samples;
	out->weight = out->samples;
	query->cost.omitted_weight = cost->omitted_weight + omitted;
	query->cost.omitted_largest = cost->omitted_largest + omitted;
}

static enum ctx_status query_threads(struct ctx_query *query, uint32_t thread, uint32_t metric,
				     const struct ctx_interval *intervals, size_t n_intervals,
				     struct ctx_histogram *out, struct ctx_err *err)
{
	const struct ctx_selection *selection = query->selection;
	enum ctx_status status = CTX_OK;

	if (thread != CTX_NONE || selection->threads == NULL)
		return query_thread(query, thread, metric, intervals, n_intervals, out, err);
	for (size_t i = 0; i < selection->n_threads && status == CTX_OK; i++)
		status = query_thread(query, selection->threads[i], metric, intervals, n_intervals, out, err);
	return status;
}

enum ctx_status ctx_query_metric_histogram(struct ctx_query *query, uint32_t thread, uint32_t metric,
					   const struct ctx_interval *intervals, size_t n_intervals,
					   struct ctx_histogram *out, struct ctx_err *err)
{
	const struct ctx_timetree_cost cost = query->cost;
	struct ctx_span_cache own = {0}, *outer = query->spans;
	enum ctx_status status;

	if (outer == NULL)
		query->spans = &own;
	status = query_threads(query, thread, metric, intervals, n_intervals, out, err);
	query->spans = outer;
	ctx_span_cache_deinit(&own);
	if (status == CTX_OK && is_count(ctx_store_profile(query->store), metric))
		count_samples(query, &cost, out);
	return status;
}

enum ctx_status ctx_query_histogram(struct ctx_query *query, uint32_t thread,
				    const struct ctx_interval *intervals, size_t n_intervals,
				    struct ctx_histogram *out, struct ctx_err *err)
{
	return ctx_query_metric_histogram(query, thread, query->selection->metrics[0], intervals, n_intervals,
					  out, err);
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

	scan->items[scan->n++] =
		(struct ctx_hist_item){.weight = sample->weight, .samples = 1, .stack = sample->raw_stack};
	return scan->n == RAW_ITEMS ? raw_flush(scan, err) : CTX_OK;
}

static enum ctx_status raw_metric(struct raw_scan *scan, uint32_t thread, uint32_t metric,
				  struct ctx_err *err)
{
	struct ctx_query *query = scan->query;
	const struct ctx_selection *selection = query->selection;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < selection->n_intervals && status == CTX_OK; i++) {
		status =
			ctx_query_scan(query, thread, metric, selection->intervals[i], raw_sample, scan, err);
		if (status == CTX_OK)
			status = raw_flush(scan, err);
	}
	return status;
}

/* Every metric of a thread (CTX_NONE: of all). */
static enum ctx_status raw_thread(struct raw_scan *scan, uint32_t thread, struct ctx_err *err)
{
	size_t n;
	const uint32_t *metrics = ctx_query_base_metrics(ctx_store_profile(scan->query->store),
							 scan->query->selection->metrics, &n);
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++)
		status = raw_metric(scan, thread, metrics[i], err);
	return status;
}

enum ctx_status ctx_query_raw_histogram(struct ctx_query *query, struct ctx_histogram *out,
					struct ctx_err *err)
{
	const struct ctx_selection *selection = query->selection;
	struct raw_scan scan = {.query = query, .out = out};
	struct ctx_span_cache cache = {0};
	const struct ctx_code *code;
	enum ctx_status status = ctx_store_code(query->store, &code, err);

	if (status == CTX_OK)
		status = ctx_histogram_index(out, code->raw_stacks->n, err);
	query->spans = &cache;
	if (status == CTX_OK && selection->threads == NULL)
		status = raw_thread(&scan, CTX_NONE, err);
	for (size_t i = 0; selection->threads != NULL && i < selection->n_threads && status == CTX_OK; i++)
		status = raw_thread(&scan, selection->threads[i], err);
	query->spans = NULL;
	ctx_span_cache_deinit(&cache);
	if (status == CTX_OK && is_count(ctx_store_profile(query->store), selection->metrics[0]))
		count_samples(query, &query->cost, out);
	return status;
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
