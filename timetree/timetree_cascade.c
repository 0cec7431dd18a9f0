/*
 * Cascade mode, as in the source (T8, T9): from the root down, each node sees only the samples that
 * no node above it dropped.
 *
 *	samples of a node   A B H A C A B | A B A C B A I B A
 *	its top: A B C      A B A C A B   | A B A C B A B A		the kept samples are compacted in place
 *	                    first child   | second child
 */
#include "timetree/timetree_cascade.h"

#include "base/mem.h"
#include "timetree/node_summary.h"
#include "timetree/timetree_parts.h"

/*
 * Moves the samples whose stacks are in the top to the front; returns their number. `tops` has
 * exactly the stacks of the top.
 */
static size_t keep_top(struct ctx_sample *samples, size_t n, const struct ctx_histogram *tops)
{
	size_t kept = 0;

	for (size_t i = 0; i < n; i++) {
		if (ctx_histogram_get(tops, samples[i].stack) != NULL)
			samples[kept++] = samples[i];
	}
	return kept;
}

struct whole { /* the stored form of an inner node, kept until its children are done */
	struct ctx_node_summary summary;
	struct ctx_histogram histogram;
	struct ctx_histogram tops;
};

static void whole_deinit(struct whole *whole)
{
	ctx_node_summary_deinit(&whole->summary);
	ctx_histogram_deinit(&whole->histogram);
	ctx_histogram_deinit(&whole->tops);
}

/* Builds the lists of a node, and drops its samples that are not in the top. */
static enum ctx_status cut_node(struct ctx_timetree_output *output, struct whole *whole,
				struct ctx_sample *samples, size_t *n, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_histogram_add_samples(&whole->histogram, output->plan.cct, samples, *n, err);

	if (status == CTX_OK)
		status =
			ctx_node_summary_make(&whole->summary, &whole->histogram, output->plan.params.percent,
					      output->plan.params.keep_tail, err);
	for (size_t i = 0; status == CTX_OK && i < whole->summary.n_top; i++)
		status = ctx_histogram_add(
			&whole->tops,
			(struct ctx_hist_entry){.stack = whole->summary.entries[i].stack, .samples = 1}, err);
	if (status == CTX_OK)
		*n = keep_top(samples, *n, &whole->tops);
	return status;
}

/*
 * The recursion is as deep as the tree: at most 64, since every level at least halves the interval.
 */
static enum ctx_status build(struct ctx_timetree_output *output, struct ctx_timenode node,
			     struct ctx_sample *samples, size_t n, struct ctx_err *err)
{
	struct whole whole CTX_CLEANUP(whole_deinit) = {0};
	const uint32_t fanout = output->plan.params.fanout;
	enum ctx_status status;
	size_t dealt = 0;

	if (ctx_timetree_is_leaf(&output->plan.params, node.interval, n))
		return ctx_timetree_emit_leaf(output, &node, samples, n, err);
	status = cut_node(output, &whole, samples, &n, err);
	if (status == CTX_OK)
		status = ctx_timetree_give_ids(output, &node.first_child, err);
	for (uint32_t i = 0; status == CTX_OK && i < fanout; i++) {
		struct ctx_timenode child = {
			.id = node.first_child + i,
			.parent = node.id,
			.level = node.level + 1,
			.interval = ctx_timetree_part(node.interval, i, fanout),
		};
		size_t first = dealt;

		while (dealt < n && samples[dealt].time_ns < child.interval.end_ns)
			dealt++;
		status = build(output, child, samples + first, dealt - first, err);
	}
	if (status != CTX_OK)
		return status;
	node.n_children = fanout;
	ctx_node_summary_fill(&whole.summary, &whole.histogram, &node);
	return output->plan.sink.node(output->plan.sink.context, &node, err);
}

enum ctx_status ctx_timetree_build_cascade(struct ctx_timetree_output *output, struct ctx_sample *samples,
					   size_t n, struct ctx_err *err)
{
	struct ctx_timenode root = {.interval = output->plan.run};

	return build(output, root, samples, n, err);
}
