#include "query/sample_scan.h"

#include "model/heap_sampling.h"
#include "model/span_clip.h"
#include "query/span_edges.h"
#include "query/span_parts.h"

struct scanning {
	struct ctx_query *query;
	const struct ctx_scan *scan;
	bool spans;
	uint64_t sample_bytes;	      /* of traced allocations: see model/heap_sampling.h */
	struct ctx_interval selected; /* the whole selected interval: filters see this part of a span */
};

static enum ctx_status hand_out_span(const struct scanning *scanning, const struct ctx_sample *span,
				     struct ctx_err *err)
{
	const struct ctx_scan *scan = scanning->scan;
	struct ctx_sample part = *span;
	struct ctx_span_parts parts;
	enum ctx_status status;

	if (!ctx_span_clip(scanning->query->profile, &part, scanning->selected) ||
	    !ctx_selection_has_cpu(scanning->query->selection, part.cpu))
		return CTX_OK;
	ctx_span_parts_kept(scanning->query->selection, &part, &parts);
	while ((status = ctx_span_parts_next(&parts, &part, err)) == CTX_OK) {
		if (ctx_span_clip(scanning->query->profile, &part, scan->interval))
			status = scan->each(scan->context, &part, NULL, err);
		if (status != CTX_OK)
			return status;
	}
	return status == CTX_END ? CTX_OK : status;
}

static enum ctx_status hand_out(const struct scanning *scanning, const struct ctx_sample *sample,
				const struct ctx_traced *operation, struct ctx_err *err)
{
	const struct ctx_scan *scan = scanning->scan;
	const struct ctx_selection *selection = scanning->query->selection;

	/* A span without length is a point. */
	if (scanning->spans && sample->weight != 0)
		return hand_out_span(scanning, sample, err);
	return ctx_selection_has_operation(selection, sample, operation)
		       ? scan->each(scan->context, sample, operation, err)
		       : CTX_OK;
}

static enum ctx_status take(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	const struct scanning *scanning = context;

	scanning->query->samples_scanned++;
	return hand_out(scanning, sample, NULL, err);
}

/* Properties that the sample lacks come from its traced operation. */
static enum ctx_status take_operation(void *context, const struct ctx_traced *operation, struct ctx_err *err)
{
	const struct scanning *scanning = context;
	const struct ctx_scan *scan = scanning->scan;
	const struct ctx_profile *profile = scanning->query->profile;
	struct ctx_sample sample = {
		.time_ns = operation->time_ns,
		.thread = operation->thread,
		.cpu = operation->cpu,
		.metric = scan->metric,
		.raw_stack = operation->raw_stack,
		.stack = operation->stack,
	};

	if ((scan->thread != CTX_NONE && operation->thread != scan->thread) ||
	    !ctx_traced_weigh(operation, profile->metrics[scan->metric].word, &sample.weight))
		return CTX_OK;
	sample.weight = ctx_heap_sample_scale(sample.weight,
					      ctx_heap_sample_number(scanning->sample_bytes, operation));
	/* Calls since the thread's last sample are unknown: 0, as a lower bound. */
	if (sample.stack < profile->cct.n)
		sample.kept_depth = profile->cct.depth[sample.stack];
	scanning->query->samples_scanned++;
	return hand_out(scanning, &sample, operation, err);
}

/* The span of a thread that extends beyond the end of the interval. */
static enum ctx_status take_last(const struct scanning *scanning, uint32_t thread, struct ctx_err *err)
{
	const struct ctx_span_scope scope = {scanning->scan->metric, thread, scanning->scan->interval};
	struct ctx_span_edges edges;
	enum ctx_status status = ctx_span_edges_find(scanning->query, &scope, &edges, err);

	if (status != CTX_OK || edges.last.weight == 0)
		return status;
	return hand_out(scanning, &edges.last_whole, NULL, err);
}

static enum ctx_status take_last_of_all(const struct scanning *scanning, struct ctx_err *err)
{
	const struct ctx_query *query = scanning->query;
	enum ctx_status status = CTX_OK;

	if (scanning->scan->thread != CTX_NONE)
		return take_last(scanning, scanning->scan->thread, err);
	for (size_t i = 0; i < ctx_selection_n_threads(query->selection, query->profile) && status == CTX_OK;
	     i++)
		status = take_last(scanning, ctx_selection_thread(query->selection, i), err);
	return status;
}

static struct ctx_interval selected_around(const struct ctx_selection *selection,
					   struct ctx_interval interval)
{
	for (size_t i = 0; i < selection->n_intervals; i++) {
		if (ctx_interval_contains(selection->intervals[i], interval))
			return selection->intervals[i];
	}
	return interval;
}

enum ctx_status ctx_scan_samples(struct ctx_query *query, const struct ctx_scan *scan, struct ctx_err *err)
{
	const struct ctx_metric_info *metric = &query->profile->metrics[scan->metric];
	const struct ctx_tree_info *tree = ctx_store_find_tree(query->store, scan->thread, scan->metric);
	struct scanning scanning = {.query = query,
				    .scan = scan,
				    .spans = ctx_metric_is_clipped(metric),
				    .sample_bytes = ctx_heap_sample_bytes(query->profile->properties,
									  query->profile->n_properties),
				    .selected = selected_around(query->selection, scan->interval)};
	enum ctx_traced_kind kind;
	enum ctx_status status;

	if (tree == NULL || ctx_interval_is_empty(scan->interval))
		return CTX_OK;
	if ((scan->reads_operations || query->selection->asks_operations) &&
	    ctx_traced_kind_of_metric(metric->word, &kind))
		return ctx_store_scan_traced(
			query->store,
			&(struct ctx_store_traced_scan){kind, scan->interval, take_operation, &scanning},
			err);
	status = ctx_store_scan(query->store, tree->id,
				&(struct ctx_store_scan){scan->interval, take, &scanning}, err);
	if (status == CTX_OK && scanning.spans && !ctx_interval_contains(scan->interval, query->profile->run))
		status = take_last_of_all(&scanning, err);
	return status;
}

static enum ctx_status scan_thread(struct ctx_query *query, const struct ctx_scan *scan, uint32_t thread,
				   struct ctx_err *err)
{
	const struct ctx_selection *selection = query->selection;
	size_t n;
	const uint32_t *metrics = ctx_query_base_metrics(query->profile, &scan->metric, &n);
	struct ctx_scan one = *scan;
	enum ctx_status status = CTX_OK;

	one.thread = thread;
	for (size_t m = 0; m < n; m++) {
		one.metric = metrics[m];
		for (size_t i = 0; i < selection->n_intervals && status == CTX_OK; i++) {
			one.interval = selection->intervals[i];
			status = ctx_scan_samples(query, &one, err);
		}
	}
	return status;
}

enum ctx_status ctx_scan_selected(struct ctx_query *query, const struct ctx_scan *scan, struct ctx_err *err)
{
	const struct ctx_selection *selection = query->selection;
	enum ctx_status status = CTX_OK;

	if (selection->threads == NULL)
		return scan_thread(query, scan, CTX_NONE, err);
	for (size_t i = 0; i < selection->n_threads && status == CTX_OK; i++)
		status = scan_thread(query, scan, selection->threads[i], err);
	return status;
}
