#include "query/query.h"

#include "base/mem.h"
#include "query/sample_scan.h"
#include "query/span_edges.h"
#include "query/tree_reader.h"

#include <stdlib.h>

#define RAW_ITEMS 256

struct stack_scan {
	const struct ctx_trie *cct;
	struct ctx_histogram *out;
};

static enum ctx_status add_sample(void *context, const struct ctx_sample *sample,
				  const struct ctx_traced *operation, struct ctx_err *err)
{
	const struct stack_scan *scan = context;

	(void)operation;
	return ctx_histogram_add_samples(scan->out, scan->cct, sample, 1, err);
}

/* One metric that has trees, one thread or all of the recording: by scan. */
static enum ctx_status scan_base(struct ctx_query *query, const struct ctx_query_scope *scope,
				 struct ctx_histogram *out, struct ctx_err *err)
{
	struct stack_scan stacks = {.cct = &query->profile->cct, .out = out};
	struct ctx_scan scan = {
		.metric = scope->metric, .thread = scope->thread, .each = add_sample, .context = &stacks};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < scope->n_intervals && status == CTX_OK; i++) {
		scan.interval = scope->intervals[i];
		status = ctx_scan_samples(query, &scan, err);
	}
	return status;
}

/* The same by time tree. */
static enum ctx_status query_base(struct ctx_query *query, const struct ctx_query_scope *scope,
				  struct ctx_histogram *out, struct ctx_err *err)
{
	const struct ctx_tree_info *tree = ctx_store_find_tree(query->store, scope->thread, scope->metric);
	struct ctx_span_scope spans = {.metric = scope->metric, .thread = scope->thread};
	struct ctx_timetree_reader reader;
	struct ctx_tree_place place;
	enum ctx_status status = CTX_OK;

	if (tree == NULL)
		return CTX_OK;
	place = (struct ctx_tree_place){query->store, tree->id};
	reader = ctx_tree_reader(&place);
	reader.cct = &query->profile->cct;
	for (size_t i = 0; i < scope->n_intervals && status == CTX_OK; i++) {
		spans.interval = scope->intervals[i];
		status = ctx_timetree_query(&reader,
					    (struct ctx_timetree_request){spans.interval, query->flags}, out,
					    &query->cost, err);
		if (status == CTX_OK)
			status = ctx_span_edges_correct(query, &spans, out, err);
	}
	return status;
}

/* One thread, or all of the recording. */
static enum ctx_status query_thread(struct ctx_query *query, const struct ctx_query_scope *scope,
				    struct ctx_histogram *out, struct ctx_err *err)
{
	bool by_scan = ctx_selection_is_filtered(query->selection);
	size_t n;
	const uint32_t *metrics = ctx_query_base_metrics(query->profile, &scope->metric, &n);
	struct ctx_query_scope base = *scope;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++) {
		base.metric = metrics[i];
		status = by_scan ? scan_base(query, &base, out, err) : query_base(query, &base, out, err);
	}
	return status;
}

static bool is_count(const struct ctx_profile *profile, uint32_t metric)
{
	return metric < profile->n_metrics && ctx_metric_is_count(&profile->metrics[metric]);
}

/* Sets the weight to the number of samples. `cost` is the query's cost before they were added. */
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

enum ctx_status ctx_query_histogram(struct ctx_query *query, const struct ctx_query_scope *scope,
				    struct ctx_histogram *out, struct ctx_err *err)
{
	const struct ctx_timetree_cost cost = query->cost;
	const struct ctx_selection *selection = query->selection;
	struct ctx_query_scope one = *scope;
	enum ctx_status status = CTX_OK;

	if (scope->intervals == NULL) {
		one.intervals = selection->intervals;
		one.n_intervals = selection->n_intervals;
	}
	if (scope->thread != CTX_NONE || selection->threads == NULL)
		status = query_thread(query, &one, out, err);
	else
		for (size_t i = 0; i < selection->n_threads && status == CTX_OK; i++) {
			one.thread = selection->threads[i];
			status = query_thread(query, &one, out, err);
		}
	if (status == CTX_OK && is_count(query->profile, scope->metric))
		count_samples(query, &cost, out);
	return status;
}

/*
 * A scan by raw stack. Samples are buffered, so that their entries in a large histogram are looked
 * up in batches.
 */
struct raw_scan {
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

static enum ctx_status raw_sample(void *context, const struct ctx_sample *sample,
				  const struct ctx_traced *operation, struct ctx_err *err)
{
	struct raw_scan *scan = context;

	(void)operation;
	scan->items[scan->n++] =
		(struct ctx_hist_item){.weight = sample->weight, .samples = 1, .stack = sample->raw_stack};
	return scan->n == RAW_ITEMS ? raw_flush(scan, err) : CTX_OK;
}

enum ctx_status ctx_query_raw_histogram(struct ctx_query *query, uint32_t metric, struct ctx_histogram *out,
					struct ctx_err *err)
{
	struct raw_scan raw = {.out = out};
	struct ctx_scan scan = {.metric = metric, .each = raw_sample, .context = &raw};
	const struct ctx_code *code;
	enum ctx_status status = ctx_store_code(query->store, &code, err);

	if (status == CTX_OK)
		status = ctx_histogram_index(out, code->raw_stacks->n, err);
	if (status == CTX_OK)
		status = ctx_scan_selected(query, &scan, err);
	if (status == CTX_OK)
		status = raw_flush(&raw, err);
	if (status == CTX_OK && is_count(query->profile, metric))
		count_samples(query, &query->cost, out);
	return status;
}

/*
 * Only sums are needed, so the rows of whole nodes suffice: what their lists would have is counted
 * in the cost, as the weight that top lists omit.
 */
enum ctx_status ctx_query_sum(struct ctx_query *query, const struct ctx_query_scope *scope,
			      struct ctx_histogram *scratch, struct ctx_report_sum *ret, struct ctx_err *err)
{
	struct ctx_timetree_cost before = query->cost;
	unsigned flags = query->flags;
	enum ctx_status status;

	query->flags |= CTX_TIMETREE_SUMS | CTX_TIMETREE_NO_CALLS;
	query->cost.omitted_weight = query->cost.omitted_samples = 0;
	ctx_histogram_clear(scratch);
	status = ctx_query_histogram(query, scope, scratch, err);
	*ret = (struct ctx_report_sum){.samples = scratch->samples + query->cost.omitted_samples,
				       .weight = scratch->weight + query->cost.omitted_weight};
	query->flags = flags;
	/* The result is complete. */
	query->cost.omitted_weight = before.omitted_weight;
	query->cost.omitted_samples = before.omitted_samples;
	query->cost.omitted_largest = before.omitted_largest;
	return status;
}

/* As the query is asked: with the top lists alone what they omit is missing, and reported. */
static enum ctx_status sum_as_asked(struct ctx_query *query, const struct ctx_query_scope *scope,
				    struct ctx_histogram *scratch, struct ctx_report_sum *ret,
				    struct ctx_err *err)
{
	enum ctx_status status;

	if ((query->flags & CTX_TIMETREE_TOP_ONLY) == 0)
		return ctx_query_sum(query, scope, scratch, ret, err);
	ctx_histogram_clear(scratch);
	status = ctx_query_histogram(query, scope, scratch, err);
	*ret = (struct ctx_report_sum){.samples = scratch->samples, .weight = scratch->weight};
	return status;
}

enum ctx_status ctx_query_thread_sums(struct ctx_query *query, uint32_t metric, uint64_t **ret_samples,
				      uint64_t **ret_weight, struct ctx_err *err)
{
	const struct ctx_profile *profile = query->profile;
	uint64_t *samples = ctx_calloc(profile->n_threads, sizeof(*samples));
	uint64_t *weight = ctx_calloc(profile->n_threads, sizeof(*weight));
	enum ctx_status status = samples != NULL && weight != NULL ? CTX_OK : ctx_err_nomem(err);
	struct ctx_query_scope scope = {.metric = metric};
	struct ctx_histogram histogram = {0};
	struct ctx_report_sum sum = {0};

	for (size_t i = 0; status == CTX_OK && i < ctx_selection_n_threads(query->selection, profile); i++) {
		scope.thread = ctx_selection_thread(query->selection, i);
		status = sum_as_asked(query, &scope, &histogram, &sum, err);
		samples[scope.thread] = sum.samples;
		weight[scope.thread] = sum.weight;
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
