#include "timetree/timetree_output.h"

enum ctx_status ctx_timetree_give_ids(struct ctx_timetree_output *output, uint32_t *ret_first,
				      struct ctx_err *err)
{
	uint32_t fanout = output->plan.params.fanout;

	if (output->n_nodes > UINT32_MAX - fanout)
		return ctx_err_set(err, CTX_E_LIMIT,
				   "time tree: more than %u nodes; choose a larger leaf (M)", UINT32_MAX);
	*ret_first = output->n_nodes;
	output->n_nodes += fanout;
	return CTX_OK;
}

enum ctx_status ctx_timetree_emit_leaf(const struct ctx_timetree_output *output, struct ctx_timenode *node,
				       const struct ctx_sample *samples, size_t n, struct ctx_err *err)
{
	const struct ctx_timetree_sink *sink = &output->plan.sink;
	enum ctx_status status = CTX_OK;

	node->samples = n;
	for (size_t i = 0; i < n; i++)
		node->weight += samples[i].weight;
	if (n != 0)
		status = sink->leaf(sink->context, node->id, samples, n, err);
	return status == CTX_OK ? sink->node(sink->context, node, err) : status;
}
