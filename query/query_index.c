/*
 * Index objects: a scan, and a hash table from the values that were seen to rows. Memory grows with the number of values.
 */
#include "query/query_edges.h"
#include "query/query_impl.h"

#include "base/map64.h"
#include "base/mem.h"
#include "model/expression.h"

#include <stdlib.h>

#define ROWS_MAX (UINT32_C(1) << 26)

struct indexing {
	const struct ctx_profile *profile;
	const struct ctx_expression *expression;
	const struct ctx_query *query;
	struct ctx_query_index *rows;
	struct ctx_map64 places; /* key -> row */
	size_t metric;		 /* of the selection's: its number */
	size_t keys_cap, sums_cap;
	bool counts; /* what it counts are its samples: each weighs 1 */
};

/* Made if it is new. What may fail comes first: a place of the map must not stay free. */
static enum ctx_status row_of(struct indexing *indexing, int64_t key, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_query_index *rows = indexing->rows;
	uint32_t *place;
	enum ctx_status status = ctx_grow(&rows->keys, &indexing->keys_cap, rows->n + 1, err);

	if (status == CTX_OK)
		status = ctx_grow(&rows->sums, &indexing->sums_cap, (rows->n + 1) * rows->n_metrics, err);
	if (status != CTX_OK)
		return status;
	if (rows->n == ROWS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "--by: more than %u different values", ROWS_MAX);
	place = ctx_map64_place(&indexing->places, (uint64_t)key);
	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		for (size_t i = 0; i < rows->n_metrics; i++)
			rows->sums[rows->n * rows->n_metrics + i] = (struct ctx_report_sum){0};
		rows->keys[rows->n] = key;
		*place = (uint32_t)rows->n++;
	}
	*ret = *place;
	return CTX_OK;
}

static enum ctx_status take(void *context, const struct ctx_sample *sample, struct ctx_err *err)
{
	struct indexing *indexing = context;
	struct ctx_query_index *rows = indexing->rows;
	struct ctx_expression_subject subject;
	struct ctx_report_sum *sum;
	uint64_t weight = indexing->counts ? 1 : sample->weight;
	uint32_t row = 0;
	enum ctx_status status;

	ctx_expression_subject_of(indexing->profile, sample, &subject);
	if (indexing->query->operation != NULL)
		ctx_expression_subject_add(indexing->query->operation, &subject);
	status = row_of(indexing, ctx_expression_key(indexing->expression, &subject), &row, err);
	if (status != CTX_OK)
		return status;
	sum = &rows->sums[row * rows->n_metrics + indexing->metric];
	sum->samples++;
	sum->weight += weight;
	rows->totals[indexing->metric].samples++;
	rows->totals[indexing->metric].weight += weight;
	return CTX_OK;
}

/* One thread, or CTX_NONE. */
static enum ctx_status scan_thread(struct ctx_query *query, struct indexing *indexing, uint32_t thread,
				   uint32_t metric, struct ctx_err *err)
{
	const struct ctx_selection *selection = query->selection;
	size_t n;
	const uint32_t *metrics = ctx_query_base_metrics(indexing->profile, &metric, &n);
	enum ctx_status status = CTX_OK;

	for (size_t m = 0; m < n; m++) {
		for (size_t i = 0; i < selection->n_intervals && status == CTX_OK; i++)
			status = ctx_query_scan(query, thread, metrics[m], selection->intervals[i], take,
						indexing, err);
	}
	return status;
}

static enum ctx_status scan_metrics(struct ctx_query *query, struct indexing *indexing, struct ctx_err *err)
{
	const struct ctx_selection *selection = query->selection;
	enum ctx_status status = CTX_OK;

	for (size_t m = 0; m < indexing->rows->n_metrics && status == CTX_OK; m++) {
		uint32_t metric = selection->metrics[m];

		indexing->metric = m;
		indexing->counts =
			metric < indexing->profile->n_metrics && indexing->profile->metrics[metric].counts;
		if (selection->threads == NULL)
			status = scan_thread(query, indexing, CTX_NONE, metric, err);
		for (size_t i = 0; selection->threads != NULL && i < selection->n_threads && status == CTX_OK;
		     i++)
			status = scan_thread(query, indexing, selection->threads[i], metric, err);
	}
	return status;
}

enum ctx_status ctx_query_index(struct ctx_query *query, const char *expression, struct ctx_query_index *ret,
				struct ctx_err *err)
{
	struct indexing indexing = {.profile = ctx_store_profile(query->store), .rows = ret};
	struct ctx_expression *key = NULL;
	struct ctx_span_cache cache = {0};
	enum ctx_status status = ctx_expression_parse(expression, &key, NULL, err);

	*ret = (struct ctx_query_index){.n_metrics = query->selection->n_metrics};
	if (status == CTX_OK)
		status = ctx_expression_bind(key, indexing.profile, err);
	if (status == CTX_OK)
		status = ctx_selection_check_asked(query->selection, indexing.profile, "--by", key, err);
	ret->totals = ctx_calloc(ret->n_metrics, sizeof(*ret->totals));
	if (status == CTX_OK && ret->totals == NULL)
		status = ctx_err_nomem(err);
	indexing.expression = key;
	indexing.query = query;
	query->asks_operations =
		status == CTX_OK && ctx_expression_asks_operations(key) != CTX_EXPRESSION_NAMES_N;
	query->spans = &cache;
	if (status == CTX_OK)
		status = scan_metrics(query, &indexing, err);
	query->spans = NULL;
	ctx_span_cache_deinit(&cache);
	ctx_map64_deinit(&indexing.places);
	ctx_expression_destroy(key);
	if (status != CTX_OK)
		ctx_query_index_free(ret);
	return status;
}

void ctx_query_index_free(struct ctx_query_index *index)
{
	free(index->keys);
	free(index->sums);
	free(index->totals);
	*index = (struct ctx_query_index){0};
}
