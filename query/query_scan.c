#include "query/query_edges.h"
#include "query/query_impl.h"

struct scan {
	struct ctx_query *query;
	bool spans;
	uint32_t thread;	      /* of operations; CTX_NONE: all */
	uint32_t metric;	      /* of operations */
	struct ctx_interval selected; /* the whole selected interval: what filters see of a span */
	struct ctx_interval interval; /* the part of it that is asked for */
	ctx_store_sample_fn each;
	void *context;
};

static enum ctx_status hand_out(const struct scan *scan, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct ctx_sample part = *sample;

	/* One without any length is a point. */
	if (scan->spans && sample->weight != 0 && !ctx_sample_clip(&part, scan->selected))
		return CTX_OK;
	if (!ctx_selection_has_operation(scan->query->selection, &part, scan->query->operation))
		return CTX_OK;
	if (scan->spans && sample->weight != 0 && !ctx_sample_clip(&part, scan->interval))
		return CTX_OK;
	return scan->each(scan->context, &part, err);
}

static enum ctx_status take(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	const struct scan *scan = context;

	scan->query->samples_scanned++;
	return hand_out(scan, sample, err);
}

/* The span that goes on behind the interval. */
static enum ctx_status take_last(const struct scan *scan, uint32_t thread, uint32_t metric,
				 struct ctx_err *err)
{
	struct ctx_query_edges edges;
	enum ctx_status status =
		ctx_query_edges_find(scan->query, thread, metric, scan->interval, &edges, err);

	if (status != CTX_OK || edges.last.weight == 0)
		return status;
	return hand_out(scan, &edges.last_whole, err);
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

/* What a sample of the metric does not know, the operation that it was made of does. */
static enum ctx_status take_operation(void *context, const struct ctx_traced *operation, struct ctx_err *err)
{
	const struct scan *scan = context;
	const struct ctx_profile *profile = ctx_store_profile(scan->query->store);
	struct ctx_sample sample = {
		.time_ns = operation->time_ns,
		.thread = operation->thread,
		.cpu = operation->cpu,
		.metric = scan->metric,
		.raw_stack = operation->raw_stack,
		.stack = operation->stack,
	};
	enum ctx_status status;

	if ((scan->thread != CTX_NONE && operation->thread != scan->thread) ||
	    !ctx_traced_weigh(operation, profile->metrics[scan->metric].word, &sample.weight))
		return CTX_OK;
	/* What was called since the thread's last sample is not known: nothing, as a lower bound. */
	if (sample.stack < profile->cct.n)
		sample.kept_depth = profile->cct.depth[sample.stack];
	scan->query->operation = operation;
	status = take(context, &sample, err);
	scan->query->operation = NULL;
	return status;
}

enum ctx_status ctx_query_scan(struct ctx_query *query, uint32_t thread, uint32_t metric,
			       struct ctx_interval interval, ctx_store_sample_fn each, void *context,
			       struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	const struct ctx_tree_info *tree = ctx_store_find_tree(query->store, thread, metric);
	struct scan scan = {.query = query,
			    .spans = profile->metrics[metric].spans,
			    .selected = selected_around(query->selection, interval),
			    .thread = thread,
			    .metric = metric,
			    .interval = interval,
			    .each = each,
			    .context = context};
	enum ctx_traced_kind kind;
	enum ctx_status status;

	if (tree == NULL || ctx_interval_is_empty(interval))
		return CTX_OK;
	if ((query->asks_operations || query->selection->asks_operations) &&
	    ctx_traced_kind_of_metric(profile->metrics[metric].word, &kind))
		return ctx_store_scan_traced(
			query->store, &(struct ctx_store_traced_scan){kind, interval, take_operation, &scan},
			err);
	status = ctx_store_scan(query->store, tree->id, &(struct ctx_store_scan){interval, take, &scan}, err);
	if (!scan.spans || ctx_interval_contains(interval, profile->run))
		return status;
	if (thread != CTX_NONE)
		return status == CTX_OK ? take_last(&scan, thread, metric, err) : status;
	for (size_t i = 0; i < ctx_selection_n_threads(query->selection, profile) && status == CTX_OK; i++)
		status = take_last(&scan, ctx_selection_thread(query->selection, i), metric, err);
	return status;
}
