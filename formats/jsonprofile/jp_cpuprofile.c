/*
 *	{"nodes": [{"id", "callFrame": {"functionName", "url", "lineNumber"}, "children": [id]}], "samples": [id],
 *	 "timeDeltas": [us], "startTime": us, "endTime": us}
 *	{"head": {the same, children inside}, "samples": [id], "timestamps": [us], "startTime": s, "endTime": s}	before 2016
 */
#include "formats/jsonprofile/jp_forms.h"

#include "base/map64.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_US 1000.0
#define HEAD_DEPTH_MAX 32 /* jp_json.c bounds the nesting */

struct reading {
	struct ctx_jp_model *model;
	struct ctx_map64 node_of; /* id -> node */
	uint32_t thread, metric;
};

/* Lines are counted from 0; -1 is none. */
static uint32_t line_of(yajl_val value)
{
	uint64_t line = ctx_jp_index(value, UINT32_MAX - 1, UINT32_MAX);

	return line != UINT32_MAX ? (uint32_t)line + 1 : 0;
}

/* Its members are in callFrame, or in the node itself. Parents come first, or are set later. */
static enum ctx_status add_node(struct reading *reading, yajl_val value, uint32_t parent, uint32_t *ret,
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
	status = ctx_jp_function(reading->model, &function, &node.function, err);
	if (status == CTX_OK)
		status = ctx_jp_node(reading->model, &node, ret, err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&reading->node_of,
				ctx_jp_index(ctx_jp_member(value, "id"), UINT32_MAX, UINT32_MAX));
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = *ret;
	return CTX_OK;
}

/* The root, "(root)", is no frame. */
static bool is_root(const struct ctx_jp_model *model, uint32_t node)
{
	return model->nodes[node].parent == CTX_JP_ROOT &&
	       strcmp(model->functions[model->nodes[node].function].name, "(root)") == 0;
}

/* The parent of a node's callees. */
static uint32_t below(const struct ctx_jp_model *model, uint32_t node)
{
	return is_root(model, node) ? CTX_JP_ROOT : node;
}

static enum ctx_status read_nodes(struct reading *reading, yajl_val nodes, struct ctx_err *err)
{
	struct ctx_jp_model *model = reading->model;
	enum ctx_status status = CTX_OK;
	uint32_t id;

	for (size_t i = 0; i < ctx_jp_length(nodes) && status == CTX_OK; i++)
		status = add_node(reading, ctx_jp_item(nodes, i), CTX_JP_ROOT, &id, err);
	for (size_t i = 0; i < ctx_jp_length(nodes) && status == CTX_OK; i++) {
		yajl_val children = ctx_jp_member(ctx_jp_item(nodes, i), "children");

		for (size_t k = 0; k < ctx_jp_length(children); k++) {
			uint32_t child =
				ctx_map64_get(&reading->node_of,
					      ctx_jp_index(ctx_jp_item(children, k), UINT32_MAX, UINT32_MAX));

			/* A child comes behind its parent: so there are no circles. */
			if (child != CTX_MAP64_NONE && child > i)
				model->nodes[child].parent = below(model, (uint32_t)i);
			else
				model->n_damaged++;
		}
	}
	return status;
}

static enum ctx_status read_head(struct reading *reading, yajl_val value, uint32_t parent, unsigned depth,
				 struct ctx_err *err)
{
	yajl_val children = ctx_jp_member(value, "children");
	uint32_t node;
	enum ctx_status status = add_node(reading, value, parent, &node, err);

	for (size_t i = 0; i < ctx_jp_length(children) && status == CTX_OK && depth < HEAD_DEPTH_MAX; i++)
		status = read_head(reading, ctx_jp_item(children, i), below(reading->model, node), depth + 1,
				   err);
	return status;
}

/* Time of sample `i` in us since the first moment; NAN: none. */
static double time_of(yajl_val deltas, yajl_val stamps, size_t i, double *at)
{
	if (stamps != NULL)
		return ctx_jp_number(ctx_jp_item(stamps, i), NAN);
	*at += ctx_jp_number(ctx_jp_item(deltas, i), NAN);
	return *at;
}

/* Each sample stands for the time up to the next one. */
static enum ctx_status read_samples(struct reading *reading, yajl_val root, struct ctx_err *err)
{
	yajl_val samples = ctx_jp_member(root, "samples"), deltas = ctx_jp_member(root, "timeDeltas");
	yajl_val stamps = ctx_jp_member(root, "timestamps");
	double begin = ctx_jp_number(ctx_jp_member(root, "startTime"), 0), at = begin, before = begin;
	double end = ctx_jp_number(ctx_jp_member(root, "endTime"), NAN);
	struct ctx_jp_model *model = reading->model;
	struct ctx_jp_sample sample = {.thread = reading->thread, .metric = reading->metric};
	bool has_sample = false;
	enum ctx_status status = CTX_OK;

	if (stamps != NULL) { /* startTime is in seconds, of the same clock */
		begin *= 1e6;
		end *= 1e6;
		before = begin;
	}
	for (size_t i = 0; i <= ctx_jp_length(samples) && status == CTX_OK; i++) {
		bool is_end = i == ctx_jp_length(samples);
		double now = is_end ? end : time_of(deltas, stamps, i, &at);
		uint32_t node;

		if (!(now - begin >= 0 && now - begin < CTX_JP_MOST / NS_PER_US)) {
			model->n_damaged += !is_end;
			continue;
		}
		if (has_sample && now > before) { /* a clock that goes back: the next sample has the time */
			sample.weight = (uint64_t)llround((now - before) * NS_PER_US);
			sample.time_ns = (uint64_t)llround((before - begin) * NS_PER_US);
			status = ctx_jp_sample(model, &sample, err);
			if (sample.time_ns + sample.weight > model->duration_ns)
				model->duration_ns = sample.time_ns + sample.weight;
		}
		if (is_end || status != CTX_OK)
			break;
		before = now > before || !has_sample ? now : before;
		node = ctx_map64_get(&reading->node_of,
				     ctx_jp_index(ctx_jp_item(samples, i), UINT32_MAX, UINT32_MAX));
		has_sample = node != CTX_MAP64_NONE;
		model->n_damaged += !has_sample;
		sample.node = has_sample ? below(model, node) : CTX_JP_ROOT;
	}
	return status;
}

enum ctx_status ctx_jp_cpuprofile(yajl_val root, struct ctx_jp_model *model, struct ctx_err *err)
{
	static const struct ctx_jp_thread thread = {
		.name = "JavaScript", .process = "V8", .pid = 1, .tid = 1};
	static const struct ctx_jp_metric metric = {"time", CTX_UNIT_NS, CTX_METRIC_THREAD_TIME};
	yajl_val head = ctx_jp_member(root, "head");
	struct reading reading = {.model = model};
	enum ctx_status status = ctx_jp_metric(model, &metric, &reading.metric, err);

	model->format = "cpuprofile";
	if (status == CTX_OK)
		status = ctx_jp_thread(model, &thread, &reading.thread, err);
	if (status == CTX_OK)
		status = head != NULL ? read_head(&reading, head, CTX_JP_ROOT, 0, err)
				      : read_nodes(&reading, ctx_jp_member(root, "nodes"), err);
	if (status == CTX_OK)
		status = read_samples(&reading, root, err);
	ctx_map64_deinit(&reading.node_of);
	return status;
}
