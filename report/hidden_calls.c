#include "report/hidden_calls.h"

#include "base/mem.h"

#include <stdlib.h>

/* Of a thread: what hidden calls ran in themselves, by the depth of the open call that made them. */
struct ctx_hidden_lane {
	uint64_t *self_ns; /* owned */
	size_t n, cap;
};

static enum ctx_status lane_of(struct ctx_hidden_calls *calls, uint32_t thread, uint32_t depth,
			       struct ctx_hidden_lane **ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&calls->lanes, &calls->lanes_cap, (size_t)thread + 1, err);
	struct ctx_hidden_lane *lane;

	if (status != CTX_OK)
		return status;
	for (; calls->n_lanes <= thread; calls->n_lanes++)
		calls->lanes[calls->n_lanes] = (struct ctx_hidden_lane){0};
	lane = &calls->lanes[thread];
	status = ctx_grow(&lane->self_ns, &lane->cap, (size_t)depth + 1, err);
	for (; status == CTX_OK && lane->n <= depth; lane->n++)
		lane->self_ns[lane->n] = 0;
	*ret = lane;
	return status;
}

/* Durations of a hidden function are below no caller: they vanish. */
static enum ctx_status pass_sum(const struct ctx_hidden_calls *calls, const struct ctx_traced *sum,
				bool passes, struct ctx_err *err)
{
	struct ctx_traced shown = *sum;

	shown.stack = calls->stack_of[sum->stack];
	if (shown.stack == calls->stack_of[calls->cct->parent[sum->stack]])
		shown.value = 0;
	return shown.stack != CTX_TRIE_ROOT ? calls->each(calls->context, &shown, passes, err) : CTX_OK;
}

enum ctx_status ctx_hidden_calls_pass(void *context, const struct ctx_traced *call, bool passes,
				      struct ctx_err *err)
{
	struct ctx_hidden_calls *calls = context;
	const struct ctx_trie *cct = calls->cct;
	struct ctx_traced shown = *call;
	struct ctx_hidden_lane *lane;
	enum ctx_status status;
	uint32_t depth;

	if (call->stack >= cct->n || call->stack == CTX_TRIE_ROOT)
		return calls->each(calls->context, call, passes, err);
	if (calls->sums)
		return pass_sum(calls, call, passes, err);
	depth = cct->depth[call->stack];
	status = lane_of(calls, call->thread, depth, &lane, err);
	if (status != CTX_OK)
		return status;
	shown.self_ns += lane->self_ns[depth];
	lane->self_ns[depth] = 0;
	shown.stack = calls->stack_of[call->stack];
	if (shown.stack == calls->stack_of[cct->parent[call->stack]]) {
		lane->self_ns[depth - 1] += shown.self_ns;
		return CTX_OK;
	}
	return calls->each(calls->context, &shown, passes, err);
}

void ctx_hidden_calls_deinit(struct ctx_hidden_calls *calls)
{
	for (size_t i = 0; i < calls->n_lanes; i++)
		free(calls->lanes[i].self_ns);
	free(calls->lanes);
	calls->lanes = NULL;
	calls->n_lanes = calls->lanes_cap = 0;
}
