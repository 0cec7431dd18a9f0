/*
 * Profiles of V8, whole or in pieces: nodes of the call tree by their ids, and samples, each of which stands for the time up to
 * the next one.
 */
#ifndef CTX_FORMATS_JSONPROFILE_JP_V8_H
#define CTX_FORMATS_JSONPROFILE_JP_V8_H

#include "base/map64.h"
#include "formats/jsonprofile/jp_json.h"
#include "formats/jsonprofile/jp_model.h"

struct ctx_jp_v8 {
	struct ctx_jp_model *model;
	struct ctx_map64 node_of; /* id -> node; ctx_jp_v8_deinit releases it */
	uint32_t thread, metric;
	double begin_us;  /* time 0 of the model */
	double before_us; /* the last sample's; set it to the begin first */
	uint32_t node;	  /* its node */
	bool has_sample;  /* it has one */
};

void ctx_jp_v8_deinit(struct ctx_jp_v8 *v8);

/* The thread and the metric that all V8 profiles have. */
CTX_MUST_CHECK enum ctx_status ctx_jp_v8_init(struct ctx_jp_v8 *v8, struct ctx_jp_model *model,
					      const struct ctx_jp_thread *thread, struct ctx_err *err);

/* A node, whose members are in callFrame or in itself. `parent`: a node, CTX_JP_ROOT. */
CTX_MUST_CHECK enum ctx_status ctx_jp_v8_add_node(struct ctx_jp_v8 *v8, yajl_val value, uint32_t parent,
						  uint32_t *ret, struct ctx_err *err);

/* The node of an id; CTX_MAP64_NONE. The parent of a node's callees: "(root)" is no frame. */
uint32_t ctx_jp_v8_node(const struct ctx_jp_v8 *v8, yajl_val id);
uint32_t ctx_jp_v8_below(const struct ctx_jp_v8 *v8, uint32_t node);

/*
 * A sample at a time: the one before it lasted up to now. `id` NULL: the end, which is no sample. What has no time or no node is
 * counted as damage.
 */
CTX_MUST_CHECK enum ctx_status ctx_jp_v8_sample(struct ctx_jp_v8 *v8, double now_us, yajl_val id,
						struct ctx_err *err);

#endif
