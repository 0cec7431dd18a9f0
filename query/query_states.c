#include "query/query_edges.h"
#include "query/query_impl.h"

#include "base/mem.h"

#include <stdlib.h>

/*
 * Only the sums are wanted. The tops are enough for them: what they leave out is counted in the cost, exactly.
 */
static enum ctx_status sum_state(struct ctx_query *query, uint32_t thread, uint32_t metric,
				 struct ctx_histogram *scratch, uint64_t *ret_ns, uint64_t *ret_spans,
				 struct ctx_err *err)
{
	const struct ctx_selection *selection = query->selection;
	enum ctx_status status;

	query->cost.omitted_weight = query->cost.omitted_samples = 0;
	ctx_histogram_clear(scratch);
	status = ctx_query_metric_histogram(query, thread, metric, selection->intervals,
					    selection->n_intervals, scratch, err);
	*ret_ns = scratch->weight + query->cost.omitted_weight;
	*ret_spans = scratch->samples + query->cost.omitted_samples;
	return status;
}

/* One thread; `*ret_any`: it has any time. */
static enum ctx_status sum_thread(struct ctx_query *query, uint32_t thread, struct ctx_histogram *scratch,
				  struct ctx_report_states *ret, bool *ret_any, struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_report_states){.thread = thread};
	*ret_any = false;
	for (unsigned s = 0; s < CTX_STATE_N && status == CTX_OK; s++) {
		uint32_t metric = ctx_profile_state_metric(profile, (enum ctx_thread_state)s);

		status = sum_state(query, thread, metric, scratch, &ret->ns[s], &ret->spans[s], err);
		*ret_any |= ret->spans[s] != 0;
	}
	return status;
}

static enum ctx_status sum_threads(struct ctx_query *query, struct ctx_report_states *states, size_t *ret_n,
				   struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	struct ctx_histogram scratch = {0};
	struct ctx_span_cache cache = {0};
	enum ctx_status status = CTX_OK;
	size_t n = 0;

	query->spans = &cache;
	for (size_t i = 0; i < ctx_selection_n_threads(query->selection, profile) && status == CTX_OK; i++) {
		bool any;

		status = sum_thread(query, ctx_selection_thread(query->selection, i), &scratch, &states[n],
				    &any, err);
		n += any;
	}
	query->spans = NULL;
	ctx_span_cache_deinit(&cache);
	ctx_histogram_deinit(&scratch);
	*ret_n = n;
	return status;
}

enum ctx_status ctx_query_states(struct ctx_query *query, struct ctx_report_states **ret, size_t *ret_n,
				 struct ctx_err *err)
{
	const struct ctx_profile *profile = ctx_store_profile(query->store);
	struct ctx_timetree_cost cost = query->cost;
	unsigned flags = query->flags;
	struct ctx_report_states *states;
	enum ctx_status status;

	*ret = NULL;
	*ret_n = 0;
	if (!profile->has_states)
		return ctx_err_set(err, CTX_E_ARG, "nothing was recorded of what the threads waited for");
	states = ctx_calloc(ctx_selection_n_threads(query->selection, profile) + 1, sizeof(*states));
	if (states == NULL)
		return ctx_err_nomem(err);
	query->flags = CTX_TIMETREE_TOP_ONLY | CTX_TIMETREE_NO_CALLS;
	status = sum_threads(query, states, ret_n, err);
	query->flags = flags;
	/* Nothing is missing in what the caller gets. */
	query->cost.omitted_weight = cost.omitted_weight;
	query->cost.omitted_samples = cost.omitted_samples;
	query->cost.omitted_largest = cost.omitted_largest;
	if (status != CTX_OK) {
		free(states);
		return status;
	}
	*ret = states;
	return CTX_OK;
}
