#include "formats/jsonprofile/jp_v8.h"

#include "base/mem.h"

#include <math.h>
#include <string.h>

#define NS_PER_US 1000.0

void ctx_jp_v8_deinit(struct ctx_jp_v8 *v8)
{
	ctx_map64_deinit(&v8->node_of);
}

enum ctx_status ctx_jp_v8_init(struct ctx_jp_v8 *v8, struct ctx_jp_model *model,
			       const struct ctx_jp_thread *thread, struct ctx_err *err)
{
	static const struct ctx_jp_metric metric = {"time", CTX_UNIT_NS, CTX_METRIC_THREAD_TIME};
	enum ctx_status status = CTX_OK;

	*v8 = (struct ctx_jp_v8){.model = model};
	if (model->n_metrics == 0)
		status = ctx_jp_metric(model, &metric, &v8->metric, err);
	return status == CTX_OK ? ctx_jp_thread(model, thread, &v8->thread, err) : status;
}

/* Lines are counted from 0; -1 is none. */
static uint32_t line_of(yajl_val value)
{
	uint64_t line = ctx_jp_index(value, UINT32_MAX - 1, UINT32_MAX);

	return line != UINT32_MAX ? (uint32_t)line + 1 : 0;
}

enum ctx_status ctx_jp_v8_add_node(struct ctx_jp_v8 *v8, yajl_val value, uint32_t parent, uint32_t *ret,
				   struct ctx_err *err)
{
	yajl_val frame = ctx_jp_member(value, "callFrame");
	const char *name;
	struct ctx_jp_function function;
	struct ctx_jp_node node = {.parent = parent};
	uint32_t *place;
	enum ctx_status status;

	frame = frame != NULL ? frame : value;
	name = ctx_jp_text(ctx_jp_member(frame, "functionName"));
	function = (struct ctx_jp_function){.name = name[0] != '\0' ? name : "(anonymous)",
					    .module = "",
					    .file = ctx_jp_text(ctx_jp_member(frame, "url")),
					    .line = line_of(ctx_jp_member(frame, "lineNumber"))};
	status = ctx_jp_function(v8->model, &function, &node.function, err);
	if (status == CTX_OK)
		status = ctx_jp_node(v8->model, &node, ret, err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&v8->node_of,
				ctx_jp_index(ctx_jp_member(value, "id"), UINT32_MAX, UINT32_MAX));
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = *ret;
	return CTX_OK;
}

uint32_t ctx_jp_v8_node(const struct ctx_jp_v8 *v8, yajl_val id)
{
	return ctx_map64_get(&v8->node_of, ctx_jp_index(id, UINT32_MAX, UINT32_MAX));
}

uint32_t ctx_jp_v8_below(const struct ctx_jp_v8 *v8, uint32_t node)
{
	const struct ctx_jp_model *model = v8->model;

	return model->nodes[node].parent == CTX_JP_ROOT &&
			       strcmp(model->functions[model->nodes[node].function].name, "(root)") == 0
		       ? CTX_JP_ROOT
		       : node;
}

/* The last sample lasted up to now. A clock that goes back: the next sample has the time. */
static enum ctx_status end_sample(struct ctx_jp_v8 *v8, double now_us, struct ctx_err *err)
{
	struct ctx_jp_sample sample = {.thread = v8->thread, .metric = v8->metric, .node = v8->node};
	struct ctx_jp_model *model = v8->model;

	if (!v8->has_sample || !(now_us > v8->before_us))
		return CTX_OK;
	sample.weight = (uint64_t)llround((now_us - v8->before_us) * NS_PER_US);
	sample.time_ns = (uint64_t)llround((v8->before_us - v8->begin_us) * NS_PER_US);
	if (sample.time_ns + sample.weight > model->duration_ns)
		model->duration_ns = sample.time_ns + sample.weight;
	return ctx_jp_sample(model, &sample, err);
}

enum ctx_status ctx_jp_v8_sample(struct ctx_jp_v8 *v8, double now_us, yajl_val id, struct ctx_err *err)
{
	double since = now_us - v8->begin_us;
	enum ctx_status status;
	uint32_t node;

	if (!(since >= 0 && since < CTX_JP_MOST / NS_PER_US)) {
		v8->model->n_damaged += id != NULL;
		return CTX_OK;
	}
	status = end_sample(v8, now_us, err);
	if (status != CTX_OK || id == NULL)
		return status;
	if (now_us > v8->before_us || !v8->has_sample)
		v8->before_us = now_us;
	node = ctx_jp_v8_node(v8, id);
	v8->has_sample = node != CTX_MAP64_NONE;
	v8->model->n_damaged += !v8->has_sample;
	v8->node = v8->has_sample ? ctx_jp_v8_below(v8, node) : CTX_JP_ROOT;
	return CTX_OK;
}
