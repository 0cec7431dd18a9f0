#include "query/more_parts.h"

#include "base/mem.h"

#include <stdlib.h>

/* The next thread that any of the queries has, behind those that were taken. Threads are ascending; all together is one part. */
static bool next_thread(const struct ctx_more_parts *parts, const size_t *at, uint32_t *ret)
{
	bool found = false;

	for (size_t i = 0; i < parts->n_queries; i++) {
		const struct ctx_query_parts *query = &parts->queries[i];

		if (at[i] < query->n && (!found || query->parts[at[i]].thread < *ret)) {
			*ret = query->parts[at[i]].thread;
			found = true;
		}
	}
	return found;
}

static void add_part(struct ctx_more_parts *parts, size_t *at, uint32_t thread)
{
	struct ctx_histogram *more = &parts->histograms[parts->n * (parts->n_queries - 1)];
	struct ctx_histogram *first = &parts->firsts[parts->n];

	for (size_t i = 0; i < parts->n_queries; i++) {
		const struct ctx_query_parts *query = &parts->queries[i];

		if (at[i] < query->n && query->parts[at[i]].thread == thread)
			*(i == 0 ? first : &more[i - 1]) = *query->parts[at[i]++].histogram;
	}
	parts->parts[parts->n++] =
		(struct ctx_report_part){.thread = thread, .histogram = first, .more = more};
}

static enum ctx_status join(struct ctx_more_parts *parts, struct ctx_err *err)
{
	size_t *at CTX_AUTO_FREE = ctx_calloc(parts->n_queries, sizeof(*at));
	size_t most = 0;
	uint32_t thread = 0;

	for (size_t i = 0; i < parts->n_queries; i++)
		most += parts->queries[i].n;
	parts->parts = ctx_calloc(most, sizeof(*parts->parts));
	parts->firsts = ctx_calloc(most, sizeof(*parts->firsts));
	parts->histograms = ctx_calloc(most, parts->n_queries * sizeof(*parts->histograms));
	if (at == NULL || parts->parts == NULL || parts->firsts == NULL || parts->histograms == NULL)
		return ctx_err_nomem(err);
	while (next_thread(parts, at, &thread))
		add_part(parts, at, thread);
	return CTX_OK;
}

enum ctx_status ctx_more_parts_query(struct ctx_query *query, bool per_thread, struct ctx_more_parts *ret,
				     struct ctx_err *err)
{
	const struct ctx_selection *selection = query->selection;
	enum ctx_status status = CTX_OK;

	*ret = (struct ctx_more_parts){.queries = ctx_calloc(selection->n_metrics, sizeof(*ret->queries))};
	if (ret->queries == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < selection->n_metrics && status == CTX_OK; i++) {
		status = ctx_query_parts(query, selection->metrics[i], per_thread, &ret->queries[i], err);
		ret->n_queries += status == CTX_OK;
	}
	if (status == CTX_OK)
		status = join(ret, err);
	if (status != CTX_OK)
		ctx_more_parts_free(ret);
	return status;
}

void ctx_more_parts_free(struct ctx_more_parts *parts)
{
	for (size_t i = 0; i < parts->n_queries; i++)
		ctx_query_parts_free(&parts->queries[i]);
	free(parts->queries);
	free(parts->parts);
	free(parts->firsts);
	free(parts->histograms);
	*parts = (struct ctx_more_parts){0};
}
