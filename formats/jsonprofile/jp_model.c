#include "formats/jsonprofile/jp_model.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

void ctx_jp_model_deinit(struct ctx_jp_model *model)
{
	free(model->threads);
	free(model->functions);
	free(model->nodes);
	free(model->samples);
	ctx_arena_deinit(&model->texts);
	*model = (struct ctx_jp_model){0};
}

enum ctx_status ctx_jp_metric(struct ctx_jp_model *model, const struct ctx_jp_metric *metric, uint32_t *ret,
			      struct ctx_err *err)
{
	for (*ret = 0; *ret < model->n_metrics; (*ret)++) {
		if (strcmp(model->metrics[*ret].name, metric->name) == 0 &&
		    model->metrics[*ret].unit == metric->unit)
			return CTX_OK;
	}
	if (model->n_metrics == CTX_JP_METRICS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "more than %u kinds of values", CTX_JP_METRICS_MAX);
	model->metrics[model->n_metrics++] = *metric;
	return CTX_OK;
}

/* The number of the item to be added to an array. */
static enum ctx_status number(size_t n, uint32_t *ret, struct ctx_err *err)
{
	if (n >= UINT32_MAX - 1)
		return ctx_err_set(err, CTX_E_LIMIT, "more than four thousand million entries");
	*ret = (uint32_t)n;
	return CTX_OK;
}

enum ctx_status ctx_jp_thread(struct ctx_jp_model *model, const struct ctx_jp_thread *thread, uint32_t *ret,
			      struct ctx_err *err)
{
	enum ctx_status status = number(model->n_threads, ret, err);

	if (status == CTX_OK)
		status = ctx_grow(&model->threads, &model->threads_cap, model->n_threads + 1, err);
	if (status == CTX_OK)
		model->threads[model->n_threads++] = *thread;
	return status;
}

enum ctx_status ctx_jp_function(struct ctx_jp_model *model, const struct ctx_jp_function *function,
				uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status = number(model->n_functions, ret, err);

	if (status == CTX_OK)
		status = ctx_grow(&model->functions, &model->functions_cap, model->n_functions + 1, err);
	if (status == CTX_OK)
		model->functions[model->n_functions++] = *function;
	return status;
}

enum ctx_status ctx_jp_node(struct ctx_jp_model *model, const struct ctx_jp_node *node, uint32_t *ret,
			    struct ctx_err *err)
{
	enum ctx_status status = number(model->n_nodes, ret, err);

	if (status == CTX_OK)
		status = ctx_grow(&model->nodes, &model->nodes_cap, model->n_nodes + 1, err);
	if (status == CTX_OK)
		model->nodes[model->n_nodes++] = *node;
	return status;
}

enum ctx_status ctx_jp_sample(struct ctx_jp_model *model, const struct ctx_jp_sample *sample,
			      struct ctx_err *err)
{
	uint32_t serial = 0;
	enum ctx_status status = number(model->n_samples, &serial, err);

	if (status == CTX_OK)
		status = ctx_grow(&model->samples, &model->samples_cap, model->n_samples + 1, err);
	if (status != CTX_OK)
		return status;
	model->samples[model->n_samples] = *sample;
	model->samples[model->n_samples++].serial = serial;
	return CTX_OK;
}

static int by_time(const void *left, const void *right)
{
	const struct ctx_jp_sample *a = left;
	const struct ctx_jp_sample *b = right;

	if (a->time_ns != b->time_ns)
		return a->time_ns < b->time_ns ? -1 : 1;
	return a->serial < b->serial ? -1 : a->serial > b->serial;
}

void ctx_jp_sort(struct ctx_jp_model *model)
{
	if (model->n_samples != 0)
		qsort(model->samples, model->n_samples, sizeof(*model->samples), by_time);
}
