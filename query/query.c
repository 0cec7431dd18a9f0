#include "query/query.h"

void ctx_query_init(struct ctx_query *query, struct ctx_store *store, const struct ctx_selection *selection,
		    unsigned flags)
{
	*query = (struct ctx_query){
		.store = store, .profile = ctx_store_profile(store), .selection = selection, .flags = flags};
}

void ctx_query_deinit(struct ctx_query *query)
{
	ctx_span_cache_deinit(&query->spans);
}

const uint32_t *ctx_query_base_metrics(const struct ctx_profile *profile, const uint32_t *metric,
				       size_t *ret_n)
{
	const struct ctx_metric_info *info = *metric < profile->n_metrics ? &profile->metrics[*metric] : NULL;

	/* No metrics: nothing was recorded. */
	*ret_n = info == NULL ? 0 : info->parts != NULL ? info->n_parts : 1;
	return info != NULL && info->parts != NULL ? info->parts : metric;
}
