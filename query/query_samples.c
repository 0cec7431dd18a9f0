#include "query/query_samples.h"

#include "base/mem.h"
#include "model/span_clip.h"
#include "query/span_edges.h"
#include "query/span_parts.h"

#include <stdlib.h>

/* Passes samples through the filters that the tree does not index. */
struct passing {
	const struct ctx_query_samples *samples;
	const struct ctx_interval *intervals; /* borrowed */
	size_t n_intervals;
	bool *selected;		      /* owned; by thread; NULL: all */
	struct ctx_interval interval; /* being returned; spans are cut at its begin (they end in it) */
	bool counts;		      /* the samples of the metric are counted: each weighs 1 */
};

static enum ctx_status hand_out(const struct passing *passing, const struct ctx_sample *sample,
				struct ctx_err *err)
{
	struct ctx_sample one = *sample;

	if (passing->counts)
		one.weight = 1;
	return passing->samples->each(passing->samples->context, &one, err);
}

static enum ctx_status pass(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	const struct passing *passing = context;
	const struct ctx_query *query = passing->samples->query;
	struct ctx_span_parts parts;
	struct ctx_sample part;
	enum ctx_status status;

	if (passing->selected != NULL && !passing->selected[sample->thread])
		return CTX_OK;
	if (sample->weight == 0 || !ctx_metric_is_clipped(&query->profile->metrics[sample->metric]))
		return ctx_selection_has(query->selection, sample) ? hand_out(passing, sample, err) : CTX_OK;
	if (!ctx_selection_has_cpu(query->selection, sample->cpu))
		return CTX_OK;
	ctx_span_parts_kept(query->selection, sample, &parts);
	while ((status = ctx_span_parts_next(&parts, &part, err)) == CTX_OK) {
		status = hand_out(passing, &part, err);
		if (status != CTX_OK)
			return status;
	}
	return status == CTX_END ? CTX_OK : status;
}

/* A span that ends in the interval may have begun before it. */
static enum ctx_status pass_part(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	const struct passing *passing = context;
	struct ctx_sample part = *sample;

	if (ctx_metric_is_clipped(&passing->samples->query->profile->metrics[sample->metric]) &&
	    !ctx_span_clip(passing->samples->query->profile, &part, passing->interval))
		return CTX_OK;
	return pass(context, &part, err);
}

static enum ctx_status pass_metric(struct passing *passing, struct ctx_err *err)
{
	const struct ctx_samples_query *wanted = passing->samples->wanted;
	struct ctx_store *store = passing->samples->query->store;
	const struct ctx_tree_info *tree = ctx_store_find_tree(store, wanted->thread, wanted->metric);
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; tree != NULL && i < passing->n_intervals && status == CTX_OK; i++)
		status = ctx_store_scan(store, tree->id,
					&(struct ctx_store_scan){passing->intervals[i], pass, passing}, err);
	return status;
}

/* The component metrics of the selected one, each with its own samples. */
struct metrics {
	const uint32_t *list;
	size_t n;
};

/* The spans of one thread that extend beyond the end of the interval. */
static enum ctx_status pass_last(struct passing *passing, uint32_t thread, const struct metrics *metrics,
				 struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < metrics->n && status == CTX_OK; i++) {
		const struct ctx_span_scope scope = {metrics->list[i], thread, passing->interval};
		struct ctx_span_edges edges;

		if (!ctx_metric_is_clipped(&passing->samples->query->profile->metrics[metrics->list[i]]))
			continue;
		status = ctx_span_edges_find(passing->samples->query, &scope, &edges, err);
		if (status == CTX_OK && edges.last.weight != 0)
			status = pass(passing, &edges.last, err);
	}
	return status;
}

static enum ctx_status pass_interval(struct passing *passing, const struct metrics *metrics,
				     struct ctx_err *err)
{
	struct ctx_store *store = passing->samples->query->store;
	uint32_t thread = passing->samples->wanted->thread;
	uint32_t *trees CTX_AUTO_FREE = ctx_calloc(metrics->n, sizeof(*trees));
	enum ctx_status status;
	size_t n_trees = 0;

	if (trees == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < metrics->n; i++) {
		const struct ctx_tree_info *tree = ctx_store_find_tree(store, thread, metrics->list[i]);

		if (tree != NULL)
			trees[n_trees++] = tree->id;
	}
	status = ctx_store_scan_merged(store, trees, n_trees,
				       &(struct ctx_store_scan){passing->interval, pass_part, passing}, err);
	if (thread != CTX_NONE)
		return status == CTX_OK ? pass_last(passing, thread, metrics, err) : status;
	for (uint32_t i = 0; i < passing->samples->query->profile->n_threads && status == CTX_OK; i++)
		status = pass_last(passing, i, metrics, err);
	return status;
}

static enum ctx_status pass_selected(struct passing *passing, struct ctx_err *err)
{
	const struct ctx_selection *selection = passing->samples->query->selection;
	struct metrics metrics;
	enum ctx_status status = CTX_OK;

	metrics.list =
		ctx_query_base_metrics(passing->samples->query->profile, selection->metrics, &metrics.n);
	passing->counts =
		metrics.n != 0 &&
		ctx_metric_is_count(&passing->samples->query->profile->metrics[selection->metrics[0]]);
	for (size_t i = 0; i < passing->n_intervals && status == CTX_OK; i++) {
		passing->interval = passing->intervals[i];
		status = pass_interval(passing, &metrics, err);
	}
	return status;
}

enum ctx_status ctx_query_samples(const struct ctx_query_samples *samples, struct ctx_err *err)
{
	const struct ctx_profile *profile = samples->query->profile;
	const struct ctx_selection *selection = samples->query->selection;
	bool whole_run = samples->wanted->whole_run;
	struct passing passing = {.samples = samples,
				  .intervals = whole_run ? &profile->run : selection->intervals,
				  .n_intervals = whole_run ? 1 : selection->n_intervals};
	enum ctx_status status =
		whole_run ? CTX_OK : ctx_selection_mark_threads(selection, profile, &passing.selected, err);

	if (status == CTX_OK)
		status = samples->wanted->has_metric ? pass_metric(&passing, err)
						     : pass_selected(&passing, err);
	free(passing.selected);
	return status;
}
