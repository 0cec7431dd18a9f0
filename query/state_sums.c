#include "query/query.h"

#include "base/mem.h"

#include <stdlib.h>

/*
 * Only sums are needed, so the top lists suffice: the weight that they omit is counted exactly in
 * the cost.
 */
static enum ctx_status sum_state(struct ctx_query *tops, const struct ctx_query_scope *scope,
				 struct ctx_histogram *scratch, struct ctx_report_sum *ret,
				 struct ctx_err *err)
{
	enum ctx_status status;

	tops->cost.omitted_weight = tops->cost.omitted_samples = 0;
	ctx_histogram_clear(scratch);
	status = ctx_query_histogram(tops, scope, scratch, err);
	*ret = (struct ctx_report_sum){.samples = scratch->samples + tops->cost.omitted_samples,
				       .weight = scratch->weight + tops->cost.omitted_weight};
	return status;
}

/* The thread is given in `states`. `*ret_any`: it has any time. */
static enum ctx_status sum_thread(struct ctx_query *tops, struct ctx_histogram *scratch,
				  struct ctx_report_states *states, bool *ret_any, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*ret_any = false;
	for (unsigned s = 0; s < CTX_STATE_N && status == CTX_OK; s++) {
		const struct ctx_query_scope scope = {
			.metric = ctx_profile_state_metric(tops->profile, (enum ctx_thread_state)s),
			.thread = states->thread};
		struct ctx_report_sum sum;

		status = sum_state(tops, &scope, scratch, &sum, err);
		states->ns[s] = sum.weight;
		states->spans[s] = sum.samples;
		*ret_any |= sum.samples != 0;
	}
	return status;
}

static enum ctx_status sum_threads(struct ctx_query *tops, struct ctx_report_states *states, size_t *ret_n,
				   struct ctx_err *err)
{
	const struct ctx_selection *selection = tops->selection;
	struct ctx_histogram scratch = {0};
	enum ctx_status status = CTX_OK;
	size_t n = 0;

	for (size_t i = 0; i < ctx_selection_n_threads(selection, tops->profile) && status == CTX_OK; i++) {
		bool any;

		states[n] = (struct ctx_report_states){.thread = ctx_selection_thread(selection, i)};
		status = sum_thread(tops, &scratch, &states[n], &any, err);
		n += any;
	}
	ctx_histogram_deinit(&scratch);
	*ret_n = n;
	return status;
}

/* Takes over the cost of `other`, but not its omitted weight: the caller's result is complete. */
static void add_cost(struct ctx_query *query, const struct ctx_query *other)
{
	struct ctx_timetree_cost cost = other->cost;

	cost.omitted_weight = query->cost.omitted_weight;
	cost.omitted_samples = query->cost.omitted_samples;
	cost.omitted_largest = query->cost.omitted_largest;
	query->cost = cost;
	query->samples_scanned = other->samples_scanned;
}

enum ctx_status ctx_query_states(struct ctx_query *query, struct ctx_report_states **ret, size_t *ret_n,
				 struct ctx_err *err)
{
	struct ctx_report_states *states;
	struct ctx_query tops;
	enum ctx_status status;

	*ret = NULL;
	*ret_n = 0;
	if (!query->profile->has_states)
		return ctx_err_set(err, CTX_E_ARG, "no thread states were recorded");
	states = ctx_calloc(ctx_selection_n_threads(query->selection, query->profile) + 1, sizeof(*states));
	if (states == NULL)
		return ctx_err_nomem(err);
	ctx_query_init(&tops, query->store, query->selection, CTX_TIMETREE_TOP_ONLY | CTX_TIMETREE_NO_CALLS);
	tops.cost = query->cost;
	tops.samples_scanned = query->samples_scanned;
	status = sum_threads(&tops, states, ret_n, err);
	add_cost(query, &tops);
	ctx_query_deinit(&tops);
	if (status != CTX_OK) {
		free(states);
		return status;
	}
	*ret = states;
	return CTX_OK;
}
