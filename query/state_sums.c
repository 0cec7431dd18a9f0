#include "query/query.h"

#include "base/mem.h"

#include <stdlib.h>

/* The thread is given in `states`. `*ret_any`: it has any time. */
static enum ctx_status sum_thread(struct ctx_query *query, struct ctx_histogram *scratch,
				  struct ctx_report_states *states, bool *ret_any, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	*ret_any = false;
	for (unsigned s = 0; s < CTX_STATE_N && status == CTX_OK; s++) {
		const struct ctx_query_scope scope = {
			.metric = ctx_profile_state_metric(query->profile, (enum ctx_thread_state)s),
			.thread = states->thread};
		struct ctx_report_sum sum;

		status = ctx_query_sum(query, &scope, scratch, &sum, err);
		states->ns[s] = sum.weight;
		states->spans[s] = sum.samples;
		*ret_any |= sum.samples != 0;
	}
	return status;
}

static enum ctx_status sum_threads(struct ctx_query *query, struct ctx_report_states *states, size_t *ret_n,
				   struct ctx_err *err)
{
	const struct ctx_selection *selection = query->selection;
	struct ctx_histogram scratch = {0};
	enum ctx_status status = CTX_OK;
	size_t n = 0;

	for (size_t i = 0; i < ctx_selection_n_threads(selection, query->profile) && status == CTX_OK; i++) {
		bool any;

		states[n] = (struct ctx_report_states){.thread = ctx_selection_thread(selection, i)};
		status = sum_thread(query, &scratch, &states[n], &any, err);
		n += any;
	}
	ctx_histogram_deinit(&scratch);
	*ret_n = n;
	return status;
}

enum ctx_status ctx_query_states(struct ctx_query *query, struct ctx_report_states **ret, size_t *ret_n,
				 struct ctx_err *err)
{
	struct ctx_report_states *states;
	enum ctx_status status;

	*ret = NULL;
	*ret_n = 0;
	if (!query->profile->has_states)
		return ctx_err_set(err, CTX_E_ARG, "no thread states were recorded");
	states = ctx_calloc(ctx_selection_n_threads(query->selection, query->profile) + 1, sizeof(*states));
	if (states == NULL)
		return ctx_err_nomem(err);
	status = sum_threads(query, states, ret_n, err);
	if (status != CTX_OK) {
		free(states);
		return status;
	}
	*ret = states;
	return CTX_OK;
}
