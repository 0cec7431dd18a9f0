#include "query/query.h"

#include "base/mem.h"

#include <stdlib.h>

/*
 * The histograms of one part, side by side; those of a thread without samples in any metric are
 * used again.
 */
static enum ctx_status add_part(struct ctx_query *query, const struct ctx_query_metrics *metrics,
				uint32_t thread, struct ctx_query_parts *parts, struct ctx_err *err)
{
	struct ctx_histogram *histograms = &parts->histograms[parts->n * metrics->n];
	struct ctx_query_scope scope = {.thread = thread};
	enum ctx_status status = CTX_OK;
	bool any = false;

	for (size_t i = 0; i < metrics->n && status == CTX_OK; i++) {
		/* One part holds most stacks of the run; those of single threads are small. */
		if (thread == CTX_NONE)
			status = ctx_histogram_index(&histograms[i], query->profile->cct.n, err);
		scope.metric = metrics->ids[i];
		if (status == CTX_OK)
			status = ctx_query_histogram(query, &scope, &histograms[i], err);
		any |= histograms[i].n != 0;
	}
	if (status == CTX_OK && (thread == CTX_NONE || any))
		parts->parts[parts->n++] =
			(struct ctx_report_part){.thread = thread, .histograms = histograms};
	return status;
}

enum ctx_status ctx_query_parts(struct ctx_query *query, const struct ctx_query_metrics *metrics,
				bool per_thread, struct ctx_query_parts *ret, struct ctx_err *err)
{
	size_t n = per_thread ? ctx_selection_n_threads(query->selection, query->profile) : 1;
	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_query_parts){
		.parts = ctx_calloc(n, sizeof(*ret->parts)),
		.histograms = ctx_calloc(n + 1, metrics->n * sizeof(*ret->histograms)),
		.n_metrics = metrics->n,
	};
	if (ret->parts == NULL || ret->histograms == NULL)
		status = ctx_err_nomem(err);
	for (size_t i = 0; status == CTX_OK && i < n; i++)
		status =
			add_part(query, metrics,
				 per_thread ? ctx_selection_thread(query->selection, i) : CTX_NONE, ret, err);
	if (status != CTX_OK)
		ctx_query_parts_free(ret);
	return status;
}

void ctx_query_parts_free(struct ctx_query_parts *parts)
{
	/*
	 * The part after the first n may hold memory too: of a thread without samples, or one that
	 * failed.
	 */
	size_t n = (parts->n + 1) * parts->n_metrics;

	for (size_t i = 0; parts->histograms != NULL && i < n; i++)
		ctx_histogram_deinit(&parts->histograms[i]);
	free(parts->parts);
	free(parts->histograms);
	*parts = (struct ctx_query_parts){0};
}
