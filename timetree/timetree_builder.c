/*
 * A tree grows along its right edge. With fanout 4, samples coming in at t:
 *
 *	levels[0]  root   |-----closed-----|-----closed-----|-------open-----t . . . |  . . .        |
 *	levels[1]                                           |closed|closed|--open--t | . . |
 *	leaf                                                              |ssss ss t |
 *
 * Only the open leaf has samples in memory. A sample after its end closes it and, if it was the
 * last child, the nodes above it; the next sibling is the new open leaf. A closing leaf is counted
 * into the histogram of the level above, a closing level merges its histogram into the one above
 * it. This is cheaper than counting every sample at every level, because a node has far fewer
 * stacks than samples. When the leaf reaches M samples it becomes a level, and its samples are
 * distributed to the children: those before the newest sample are closed at once (each has fewer
 * than M samples, so it is a leaf), the one with the newest sample is the open leaf.
 */
#include "base/bisect.h"
#include "base/mem.h"
#include "timetree/node_summary.h"
#include "timetree/timetree_cascade.h"
#include "timetree/timetree_parts.h"

#include <string.h>

/* An open inner node. */
struct level {
	struct ctx_interval interval;
	uint32_t id, parent, first_child;
	uint32_t open_child;		/* index of the child being filled, 0 .. fanout - 1 */
	struct ctx_histogram histogram; /* of the closed children */
};

struct ctx_timetree_builder {
	struct ctx_timetree_output output;
	struct ctx_sample *samples; /* residual: of the open leaf; cascade: all */
	size_t n_samples, samples_cap;
	struct level *levels; /* residual: [0, depth) are open, [0, n_levels) own memory */
	size_t depth, n_levels, levels_cap;
	struct ctx_interval leaf; /* residual: the open leaf */
	uint32_t leaf_id;
	uint64_t last_ns;
	uint64_t weight; /* sum of all samples so far */
	uint64_t moved;
	struct ctx_node_summary summary;
	bool over; /* finished, or failed */
};

_Static_assert(sizeof(struct ctx_timetree_builder) < 1024, "one per thread: an idle builder is small");

struct ctx_timetree_params ctx_timetree_default_params(void)
{
	return (struct ctx_timetree_params){.leaf_samples = 1000,
					    .fanout = 16,
					    .percent = 95,
					    .mode = CTX_TIMETREE_RESIDUAL,
					    .keep_tail = true};
}

enum ctx_status ctx_timetree_params_check(const struct ctx_timetree_params *params, struct ctx_err *err)
{
	if (params->leaf_samples < 1 || params->leaf_samples > 1u << 24)
		return ctx_err_set(err, CTX_E_ARG, "time tree: leaf samples (M) is %u, must be 1 to %u",
				   params->leaf_samples, 1u << 24);
	if (params->fanout < 2 || params->fanout > 256)
		return ctx_err_set(err, CTX_E_ARG, "time tree: fanout (N) is %u, must be 2 to 256",
				   params->fanout);
	if (params->percent < 1 || params->percent > 100)
		return ctx_err_set(err, CTX_E_ARG, "time tree: percent (P) is %u, must be 1 to 100",
				   params->percent);
	if (params->mode != CTX_TIMETREE_RESIDUAL && params->mode != CTX_TIMETREE_CASCADE)
		return ctx_err_set(err, CTX_E_ARG,
				   "time tree: mode is %d, must be residual (0) or cascade (1)",
				   (int)params->mode);
	return CTX_OK;
}

enum ctx_status ctx_timetree_builder_create(const struct ctx_timetree_plan *plan,
					    struct ctx_timetree_builder **ret, struct ctx_err *err)
{
	struct ctx_timetree_builder *builder;
	enum ctx_status status = ctx_timetree_params_check(&plan->params, err);

	if (status != CTX_OK)
		return status;
	if (ctx_interval_is_empty(plan->run))
		return ctx_err_set(err, CTX_E_ARG, "time tree: the run is empty");
	builder = ctx_calloc(1, sizeof(*builder));
	if (builder == NULL)
		return ctx_err_nomem(err);
	builder->output = (struct ctx_timetree_output){.plan = *plan, .n_nodes = 1};
	builder->leaf = plan->run;
	builder->last_ns = plan->run.begin_ns;
	*ret = builder;
	return CTX_OK;
}

void ctx_timetree_builder_destroy(struct ctx_timetree_builder *builder)
{
	if (builder == NULL)
		return;
	for (size_t i = 0; i < builder->n_levels; i++)
		ctx_histogram_deinit(&builder->levels[i].histogram);
	free(builder->levels);
	free(builder->samples);
	ctx_node_summary_deinit(&builder->summary);
	free(builder);
}

uint64_t ctx_timetree_builder_moved(const struct ctx_timetree_builder *builder)
{
	return builder->moved;
}

/* Passes the open leaf with these samples to the sink and counts it into the level above. */
static enum ctx_status close_leaf(struct ctx_timetree_builder *builder, const struct ctx_sample *samples,
				  size_t n, struct ctx_err *err)
{
	struct level *above = builder->depth != 0 ? &builder->levels[builder->depth - 1] : NULL;
	struct ctx_timenode node = {
		.id = builder->leaf_id,
		.parent = above != NULL ? above->id : 0,
		.level = (uint32_t)builder->depth,
		.interval = builder->leaf,
	};
	enum ctx_status status = ctx_timetree_emit_leaf(&builder->output, &node, samples, n, err);

	if (status == CTX_OK && above != NULL)
		status = ctx_histogram_add_samples(&above->histogram, builder->output.plan.cct, samples, n,
						   err);
	return status;
}

/* Passes the deepest level to the sink and merges it into the one above. */
static enum ctx_status close_level(struct ctx_timetree_builder *builder, struct ctx_err *err)
{
	struct level *level = &builder->levels[builder->depth - 1];
	struct ctx_timenode node = {
		.id = level->id,
		.parent = level->parent,
		.level = (uint32_t)(builder->depth - 1),
		.first_child = level->first_child,
		.n_children = builder->output.plan.params.fanout,
		.interval = level->interval,
	};
	enum ctx_status status = ctx_node_summary_make(&builder->summary, &level->histogram,
						       builder->output.plan.params.percent,
						       builder->output.plan.params.keep_tail, err);

	if (status != CTX_OK)
		return status;
	ctx_node_summary_fill(&builder->summary, &level->histogram, &node);
	status = builder->output.plan.sink.node(builder->output.plan.sink.context, &node, err);
	if (status == CTX_OK && builder->depth > 1)
		status = ctx_histogram_merge(&level[-1].histogram, &level->histogram, err);
	ctx_histogram_clear(&level->histogram);
	builder->depth--;
	return status;
}

/* Makes child `i` of the deepest level the open leaf. */
static void open_leaf(struct ctx_timetree_builder *builder, uint32_t i)
{
	struct level *level = &builder->levels[builder->depth - 1];

	level->open_child = i;
	builder->leaf = ctx_timetree_part(level->interval, i, builder->output.plan.params.fanout);
	builder->leaf_id = level->first_child + i;
}

/* Closes the open leaf and opens the next one; at the end of the run no level stays open. */
static enum ctx_status step(struct ctx_timetree_builder *builder, struct ctx_err *err)
{
	enum ctx_status status = close_leaf(builder, builder->samples, builder->n_samples, err);

	builder->n_samples = 0;
	while (status == CTX_OK && builder->depth != 0) {
		uint32_t next = builder->levels[builder->depth - 1].open_child + 1;

		if (next < builder->output.plan.params.fanout) {
			open_leaf(builder, next);
			return CTX_OK;
		}
		status = close_level(builder, err);
	}
	return status;
}

/* Turns the open leaf into a level; the open leaf is then its first child. */
static enum ctx_status push_level(struct ctx_timetree_builder *builder, struct ctx_err *err)
{
	struct level *level;
	uint32_t first = 0;
	enum ctx_status status = ctx_timetree_give_ids(&builder->output, &first, err);

	if (status == CTX_OK)
		status = ctx_grow(&builder->levels, &builder->levels_cap, builder->depth + 1, err);
	if (status != CTX_OK)
		return status;
	if (builder->n_levels == builder->depth)
		builder->levels[builder->n_levels++] = (struct level){0};
	level = &builder->levels[builder->depth];
	level->interval = builder->leaf;
	level->id = builder->leaf_id;
	level->parent = builder->depth != 0 ? level[-1].id : 0;
	level->first_child = first;
	builder->depth++;
	open_leaf(builder, 0);
	return CTX_OK;
}

/* Splits the open leaf while it has M samples or more. */
static enum ctx_status split(struct ctx_timetree_builder *builder, struct ctx_err *err)
{
	while (!ctx_timetree_is_leaf(&builder->output.plan.params, builder->leaf, builder->n_samples)) {
		uint64_t newest_ns = builder->samples[builder->n_samples - 1].time_ns;
		size_t dealt = 0;
		enum ctx_status status = push_level(builder, err);

		for (uint32_t i = 0; status == CTX_OK && builder->leaf.end_ns <= newest_ns; i++) {
			size_t n = ctx_count_below(builder->samples + dealt, builder->n_samples - dealt,
						   time_ns, builder->leaf.end_ns);

			status = close_leaf(builder, builder->samples + dealt, n, err);
			dealt += n;
			open_leaf(builder, i + 1);
		}
		if (status != CTX_OK)
			return status;
		builder->n_samples -= dealt;
		memmove(builder->samples, builder->samples + dealt,
			builder->n_samples * sizeof(*builder->samples));
	}
	return CTX_OK;
}

static enum ctx_status add(struct ctx_timetree_builder *builder, const struct ctx_sample *sample,
			   struct ctx_err *err)
{
	uint64_t time_ns = sample->time_ns;
	enum ctx_status status;

	if (builder->output.plan.cct != NULL && sample->stack >= builder->output.plan.cct->n)
		return ctx_err_set(err, CTX_E_ARG,
				   "time tree: a sample's stack %u is not one of the %u known", sample->stack,
				   builder->output.plan.cct->n);
	if (__builtin_add_overflow(builder->weight, sample->weight, &builder->weight))
		return ctx_err_set(err, CTX_E_LIMIT,
				   "time tree: the weights add up to more than 64 bits hold");
	if (time_ns < builder->last_ns)
		time_ns = builder->last_ns;
	if (time_ns >= builder->output.plan.run.end_ns)
		time_ns = builder->output.plan.run.end_ns - 1;
	builder->moved += time_ns != sample->time_ns;
	builder->last_ns = time_ns;
	while (builder->output.plan.params.mode == CTX_TIMETREE_RESIDUAL && time_ns >= builder->leaf.end_ns) {
		status = step(builder, err);
		if (status != CTX_OK)
			return status;
	}
	status = ctx_grow(&builder->samples, &builder->samples_cap, builder->n_samples + 1, err);
	if (status != CTX_OK)
		return status;
	builder->samples[builder->n_samples] = *sample;
	builder->samples[builder->n_samples++].time_ns = time_ns;
	if (builder->output.plan.params.mode == CTX_TIMETREE_CASCADE)
		return CTX_OK;
	return split(builder, err);
}

enum ctx_status ctx_timetree_builder_add(struct ctx_timetree_builder *builder,
					 const struct ctx_sample *sample, struct ctx_err *err)
{
	enum ctx_status status;

	if (builder->over)
		return ctx_err_set(err, CTX_E_ARG,
				   "time tree: a sample for a tree that is finished or has failed");
	status = add(builder, sample, err);
	builder->over = status != CTX_OK;
	return status;
}

enum ctx_status ctx_timetree_builder_finish(struct ctx_timetree_builder *builder, struct ctx_err *err)
{
	enum ctx_status status;

	if (builder->over)
		return ctx_err_set(err, CTX_E_ARG, "time tree: it is finished already, or has failed");
	builder->over = true;
	if (builder->output.plan.params.mode == CTX_TIMETREE_CASCADE)
		return ctx_timetree_build_cascade(&builder->output, builder->samples, builder->n_samples,
						  err);
	do
		status = step(builder, err);
	while (status == CTX_OK && builder->depth != 0);
	return status;
}
