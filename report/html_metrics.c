#include "report/html_metrics.h"

#include "base/mem.h"
#include "model/omp.h"

#include <stdlib.h>

#define WAITS_NAME "Waits"
#define WAITS_WORD "waits"

enum ctx_thread_state ctx_html_base_state(const struct ctx_profile *profile, const struct ctx_html_base *base)
{
	if (!profile->has_states || base->counts || base->metric < profile->states ||
	    base->metric >= profile->states + CTX_STATE_N)
		return CTX_STATE_N;
	return (enum ctx_thread_state)(base->metric - profile->states);
}

/* ---- Which metrics ---- */

static enum ctx_status add_base(struct ctx_html_metrics *metrics, uint32_t metric, bool counts, uint32_t *ret,
				struct ctx_err *err)
{
	enum ctx_status status;

	for (size_t i = 0; i < metrics->n_bases; i++) {
		*ret = (uint32_t)i;
		if (metrics->bases[i].metric == metric && metrics->bases[i].counts == counts)
			return CTX_OK;
	}
	status = ctx_grow(&metrics->bases, &metrics->bases_cap, metrics->n_bases + 1, err);
	if (status != CTX_OK)
		return status;
	*ret = (uint32_t)metrics->n_bases;
	metrics->bases[metrics->n_bases++] = (struct ctx_html_base){.metric = metric, .counts = counts};
	return CTX_OK;
}

/* A metric with room for `n` bases, without any. */
static enum ctx_status add_metric(struct ctx_html_metrics *metrics, const struct ctx_metric_info *info,
				  uint32_t n, struct ctx_html_metric **ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&metrics->metrics, &metrics->cap, metrics->n + 1, err);

	if (status != CTX_OK)
		return status;
	*ret = &metrics->metrics[metrics->n];
	**ret = (struct ctx_html_metric){.name = info->name,
					 .word = info->word != NULL ? info->word : info->name,
					 .kind = info->kind,
					 .unit = info->unit,
					 .bases = ctx_calloc(n, sizeof(*(*ret)->bases))};
	if ((*ret)->bases == NULL)
		return ctx_err_nomem(err);
	metrics->n++;
	return CTX_OK;
}

static enum ctx_status add_of_profile(struct ctx_html_metrics *metrics, uint32_t metric, struct ctx_err *err)
{
	const struct ctx_metric_info *info = &metrics->input->profile->metrics[metric];
	const uint32_t *parts = info->parts != NULL ? info->parts : &metric;
	uint32_t n = info->parts != NULL ? info->n_parts : 1;
	struct ctx_html_metric *added;
	enum ctx_status status = add_metric(metrics, info, n, &added, err);

	for (uint32_t i = 0; i < n && status == CTX_OK; i++)
		status = add_base(metrics, parts[i], ctx_metric_is_count(info),
				  &added->bases[added->n_bases++], err);
	return status;
}

static enum ctx_status add_waits(struct ctx_html_metrics *metrics, struct ctx_err *err)
{
	const struct ctx_profile *profile = metrics->input->profile;
	const struct ctx_metric_info info = {
		.name = WAITS_NAME, .word = WAITS_WORD, .kind = CTX_METRIC_SPAN, .unit = CTX_UNIT_NS};
	struct ctx_html_metric *waits;
	enum ctx_status status = add_metric(metrics, &info, CTX_STATE_N, &waits, err);

	for (unsigned state = 0; state < CTX_STATE_N && status == CTX_OK; state++) {
		if ((CTX_STATES_OF_WAITS & CTX_STATE_BIT(state)) != 0)
			status = add_base(metrics,
					  ctx_profile_state_metric(profile, (enum ctx_thread_state)state),
					  false, &waits->bases[waits->n_bases++], err);
	}
	return status;
}

static enum ctx_status choose(struct ctx_html_metrics *metrics, struct ctx_err *err)
{
	const struct ctx_export_input *input = metrics->input;
	const struct ctx_report_selection *selection = input->selection;
	const struct ctx_profile *profile = input->profile;
	enum ctx_status status = CTX_OK;
	uint32_t wall, omp = ctx_profile_omp_metric(profile);

	for (size_t i = 0; i < selection->n_metrics && status == CTX_OK; i++)
		status = add_of_profile(metrics, selection->metrics[i], err);
	if (status != CTX_OK || input->metric_named || !profile->has_states)
		return status;
	metrics->usual = true;
	wall = ctx_profile_state_sum(profile, CTX_STATE_METRICS_N - 1);
	if (input->metric != wall)
		status = add_of_profile(metrics, wall, err);
	if (status == CTX_OK)
		status = add_waits(metrics, err);
	/* Work and wait of teams. */
	for (uint32_t i = CTX_OMP_METRIC_WORK;
	     i <= CTX_OMP_METRIC_WAIT && omp != CTX_NONE && status == CTX_OK; i++)
		status = add_of_profile(metrics, omp + i, err);
	return status;
}

/* ---- Their cells ---- */

static enum ctx_status collect(struct ctx_html_metrics *metrics, uint32_t buckets, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	metrics->buckets = buckets;
	for (size_t i = 0; i < metrics->n_bases && status == CTX_OK; i++) {
		struct ctx_html_base *base = &metrics->bases[i];
		const struct ctx_cells_query query = {.input = metrics->input,
						      .metric = base->metric,
						      .counts = base->counts,
						      .buckets = buckets};

		ctx_cells_deinit(&base->cells);
		status = ctx_cells_collect(&base->cells, &query, err);
	}
	return status;
}

enum ctx_status ctx_html_metrics_collect(struct ctx_html_metrics *metrics,
					 const struct ctx_export_input *input, uint32_t buckets,
					 struct ctx_err *err)
{
	enum ctx_status status;

	*metrics = (struct ctx_html_metrics){.input = input};
	status = choose(metrics, err);
	if (status == CTX_OK)
		status = collect(metrics, buckets, err);
	if (status != CTX_OK)
		ctx_html_metrics_deinit(metrics);
	return status;
}

/* The bases of the first metric came first. */
enum ctx_status ctx_html_metrics_first(struct ctx_html_metrics *metrics, uint32_t buckets,
				       struct ctx_err *err)
{
	while (metrics->n > 1)
		free(metrics->metrics[--metrics->n].bases);
	while (metrics->n_bases > metrics->metrics[0].n_bases)
		ctx_cells_deinit(&metrics->bases[--metrics->n_bases].cells);
	return collect(metrics, buckets, err);
}

void ctx_html_metrics_deinit(struct ctx_html_metrics *metrics)
{
	for (size_t i = 0; i < metrics->n; i++)
		free(metrics->metrics[i].bases);
	for (size_t i = 0; i < metrics->n_bases; i++)
		ctx_cells_deinit(&metrics->bases[i].cells);
	free(metrics->metrics);
	free(metrics->bases);
	*metrics = (struct ctx_html_metrics){0};
}

void ctx_html_metrics_halve(struct ctx_html_metrics *metrics)
{
	metrics->buckets /= 2;
	for (size_t i = 0; i < metrics->n_bases; i++)
		ctx_cells_halve(&metrics->bases[i].cells);
}

struct ctx_html_sums ctx_html_metrics_sums(const struct ctx_html_metrics *metrics,
					   const struct ctx_html_metric *metric)
{
	struct ctx_html_sums sums = {0};

	for (uint32_t i = 0; i < metric->n_bases; i++) {
		const struct ctx_cells *cells = &metrics->bases[metric->bases[i]].cells;

		sums.samples += cells->samples;
		sums.weight += cells->weight;
		sums.dropped_weight += cells->dropped_weight;
	}
	return sums;
}

/* ---- The heaviest stacks ---- */

struct heavy {
	uint64_t share; /* of a metric: the largest one, in 2^-32 */
	uint32_t stack;
};

static int by_share(const void *a, const void *b)
{
	const struct heavy *left = a, *right = b;

	if (left->share != right->share)
		return left->share > right->share ? -1 : 1;
	return left->stack < right->stack ? -1 : left->stack > right->stack;
}

static void weigh(const struct ctx_html_metrics *metrics, const struct ctx_html_metric *metric,
		  uint64_t *weight, struct heavy *stacks)
{
	uint64_t total = ctx_html_metrics_sums(metrics, metric).weight;
	uint32_t n_stacks = metrics->input->profile->cct.n;

	for (uint32_t i = 0; i < n_stacks; i++)
		weight[i] = 0;
	for (uint32_t i = 0; i < metric->n_bases; i++)
		ctx_cells_weigh(&metrics->bases[metric->bases[i]].cells, weight);
	for (uint32_t i = 0; i < n_stacks && total != 0; i++) {
		uint64_t share = (uint64_t)(((unsigned __int128)weight[i] << 32) / total);

		if (share > stacks[i].share)
			stacks[i].share = share;
	}
}

enum ctx_status ctx_html_metrics_keep(struct ctx_html_metrics *metrics, uint32_t n, struct ctx_err *err)
{
	uint32_t n_stacks = metrics->input->profile->cct.n;
	struct heavy *stacks CTX_AUTO_FREE = ctx_calloc(n_stacks, sizeof(*stacks));
	uint64_t *weight CTX_AUTO_FREE = ctx_calloc(n_stacks, sizeof(*weight));
	bool *kept CTX_AUTO_FREE = ctx_calloc(n_stacks, sizeof(*kept));

	if (stacks == NULL || weight == NULL || kept == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < n_stacks; i++)
		stacks[i].stack = i;
	for (size_t i = 0; i < metrics->n; i++)
		weigh(metrics, &metrics->metrics[i], weight, stacks);
	qsort(stacks, n_stacks, sizeof(*stacks), by_share);
	for (uint32_t i = 0; i < n && i < n_stacks; i++)
		kept[stacks[i].stack] = true;
	for (size_t i = 0; i < metrics->n_bases; i++)
		ctx_cells_drop(&metrics->bases[i].cells, kept);
	return CTX_OK;
}

/* ---- By stack ---- */

static enum ctx_status add_cells(const struct ctx_cells *cells, struct ctx_histogram *histogram,
				 struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (uint32_t t = 0; t < cells->n_threads; t++) {
		const struct ctx_thread_cells *thread = &cells->threads[t];

		for (size_t k = 0; k < thread->n && status == CTX_OK; k++) {
			const struct ctx_cell_entry *entry = &thread->entries[k];

			if (entry->stack != CTX_CELLS_OTHER)
				status = ctx_histogram_add(histogram,
							   (struct ctx_hist_entry){.weight = entry->weight,
										   .samples = entry->samples,
										   .stack = entry->stack},
							   err);
		}
	}
	return status;
}

enum ctx_status ctx_html_metrics_histogram(const struct ctx_html_metrics *metrics,
					   const struct ctx_html_metric *metric, struct ctx_histogram *ret,
					   struct ctx_err *err)
{
	enum ctx_status status = ctx_histogram_index(ret, metrics->input->profile->cct.n, err);

	for (uint32_t i = 0; i < metric->n_bases && status == CTX_OK; i++)
		status = add_cells(&metrics->bases[metric->bases[i]].cells, ret, err);
	return status;
}
