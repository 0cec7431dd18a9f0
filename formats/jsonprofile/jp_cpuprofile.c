/*
 *	{"nodes": [{"id", "callFrame": {"functionName", "url", "lineNumber"}, "children": [id]}], "samples": [id],
 *	 "timeDeltas": [us], "startTime": us, "endTime": us}
 *	{"head": {the same, children inside}, "samples": [id], "timestamps": [us], "startTime": s, "endTime": s}	before 2016
 */
#include "formats/jsonprofile/jp_forms.h"
#include "formats/jsonprofile/jp_v8.h"

#include <math.h>

#define HEAD_DEPTH_MAX 32 /* jp_json.c bounds the nesting */

static enum ctx_status read_nodes(struct ctx_jp_v8 *v8, yajl_val nodes, struct ctx_err *err)
{
	struct ctx_jp_model *model = v8->model;
	enum ctx_status status = CTX_OK;
	uint32_t id;

	for (size_t i = 0; i < ctx_jp_length(nodes) && status == CTX_OK; i++)
		status = ctx_jp_v8_add_node(v8, ctx_jp_item(nodes, i), CTX_JP_ROOT, &id, err);
	for (size_t i = 0; i < ctx_jp_length(nodes) && status == CTX_OK; i++) {
		yajl_val children = ctx_jp_member(ctx_jp_item(nodes, i), "children");

		for (size_t k = 0; k < ctx_jp_length(children); k++) {
			uint32_t child = ctx_jp_v8_node(v8, ctx_jp_item(children, k));

			/* A child comes behind its parent: so there are no circles. */
			if (child != CTX_MAP64_NONE && child > i)
				model->nodes[child].parent = ctx_jp_v8_below(v8, (uint32_t)i);
			else
				model->n_damaged++;
		}
	}
	return status;
}

static enum ctx_status read_head(struct ctx_jp_v8 *v8, yajl_val value, uint32_t parent, unsigned depth,
				 struct ctx_err *err)
{
	yajl_val children = ctx_jp_member(value, "children");
	uint32_t node;
	enum ctx_status status = ctx_jp_v8_add_node(v8, value, parent, &node, err);

	for (size_t i = 0; i < ctx_jp_length(children) && status == CTX_OK && depth < HEAD_DEPTH_MAX; i++)
		status = read_head(v8, ctx_jp_item(children, i), ctx_jp_v8_below(v8, node), depth + 1, err);
	return status;
}

static enum ctx_status read_samples(struct ctx_jp_v8 *v8, yajl_val root, struct ctx_err *err)
{
	yajl_val samples = ctx_jp_member(root, "samples"), deltas = ctx_jp_member(root, "timeDeltas");
	yajl_val stamps = ctx_jp_member(root, "timestamps");
	double begin = ctx_jp_number(ctx_jp_member(root, "startTime"), 0), at = begin;
	double end = ctx_jp_number(ctx_jp_member(root, "endTime"), NAN);
	enum ctx_status status = CTX_OK;

	if (stamps != NULL) { /* startTime is in seconds, of the same clock */
		begin *= 1e6;
		end *= 1e6;
	}
	v8->begin_us = v8->before_us = begin;
	for (size_t i = 0; i < ctx_jp_length(samples) && status == CTX_OK; i++) {
		at = stamps != NULL ? ctx_jp_number(ctx_jp_item(stamps, i), NAN)
				    : at + ctx_jp_number(ctx_jp_item(deltas, i), NAN);
		status = ctx_jp_v8_sample(v8, at, ctx_jp_item(samples, i), err);
	}
	return status == CTX_OK ? ctx_jp_v8_sample(v8, end, NULL, err) : status;
}

enum ctx_status ctx_jp_cpuprofile(yajl_val root, struct ctx_jp_model *model, struct ctx_err *err)
{
	static const struct ctx_jp_thread thread = {
		.name = "JavaScript", .process = "V8", .pid = 1, .tid = 1};
	yajl_val head = ctx_jp_member(root, "head");
	struct ctx_jp_v8 v8;
	enum ctx_status status = ctx_jp_v8_init(&v8, model, &thread, err);

	model->format = "cpuprofile";
	if (status == CTX_OK)
		status = head != NULL ? read_head(&v8, head, CTX_JP_ROOT, 0, err)
				      : read_nodes(&v8, ctx_jp_member(root, "nodes"), err);
	if (status == CTX_OK)
		status = read_samples(&v8, root, err);
	ctx_jp_v8_deinit(&v8);
	return status;
}
