/*
 * Index objects: a scan with a hash table from values to rows. Memory grows with the number of
 * distinct values.
 */
#include "query/query.h"

#include "base/map64.h"
#include "base/mem.h"
#include "model/expression.h"
#include "query/sample_scan.h"
#include "query/span_parts.h"

#include <stdlib.h>

#define ROWS_MAX (UINT32_C(1) << 26)

struct indexing {
	const struct ctx_profile *profile;
	const struct ctx_expression *expression;
	struct ctx_query_index *rows;
	struct ctx_map64 places; /* key -> row */
	size_t metric;		 /* number of the metric in the selection */
	size_t keys_cap, sums_cap;
	bool counts; /* it counts samples: each weighs 1 */
};

/*
 * Created if it is new. Allocations come first: a slot of the map must not stay empty on failure.
 */
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

static enum ctx_status add(struct indexing *indexing, int64_t key, uint64_t weight, struct ctx_err *err)
{
	struct ctx_query_index *rows = indexing->rows;
	struct ctx_report_sum *sum;
	uint32_t row = 0;
	enum ctx_status status = row_of(indexing, key, &row, err);

	if (status != CTX_OK)
		return status;
	sum = &rows->sums[row * rows->n_metrics + indexing->metric];
	sum->samples++;
	sum->weight += weight;
	rows->totals[indexing->metric].samples++;
	rows->totals[indexing->metric].weight += weight;
	return CTX_OK;
}

/* A span has a part in each row whose key it has at some time. */
static enum ctx_status take_span(struct indexing *indexing, const struct ctx_sample *span,
				 struct ctx_err *err)
{
	struct ctx_span_parts parts;
	struct ctx_sample part;
	enum ctx_status status;

	ctx_span_parts_by(indexing->expression, indexing->profile, span, &parts);
	while ((status = ctx_span_parts_next(&parts, &part, err)) == CTX_OK) {
		status = add(indexing, parts.key_value, indexing->counts ? 1 : part.weight, err);
		if (status != CTX_OK)
			return status;
	}
	return status == CTX_END ? CTX_OK : status;
}

static enum ctx_status take(void *context, const struct ctx_sample *sample,
			    const struct ctx_traced *operation, struct ctx_err *err)
{
	struct indexing *indexing = context;
	struct ctx_expression_subject subject;

	if (sample->weight != 0 && ctx_metric_is_clipped(&indexing->profile->metrics[sample->metric]))
		return take_span(indexing, sample, err);
	ctx_expression_subject_of(indexing->profile, sample, &subject);
	if (operation != NULL)
		ctx_expression_subject_add(operation, &subject);
	return add(indexing, ctx_expression_key(indexing->expression, &subject),
		   indexing->counts ? 1 : sample->weight, err);
}

static enum ctx_status scan_metrics(struct ctx_query *query, struct indexing *indexing, struct ctx_err *err)
{
	const struct ctx_profile *profile = indexing->profile;
	struct ctx_scan scan = {
		.reads_operations =
			ctx_expression_asks_operations(indexing->expression) != CTX_EXPRESSION_NAMES_N,
		.each = take,
		.context = indexing,
	};
	enum ctx_status status = CTX_OK;

	for (size_t m = 0; m < indexing->rows->n_metrics && status == CTX_OK; m++) {
		scan.metric = query->selection->metrics[m];
		indexing->metric = m;
		indexing->counts = scan.metric < profile->n_metrics &&
				   ctx_metric_is_count(&profile->metrics[scan.metric]);
		status = ctx_scan_selected(query, &scan, err);
	}
	return status;
}

enum ctx_status ctx_query_index(struct ctx_query *query, const char *expression, struct ctx_query_index *ret,
				struct ctx_err *err)
{
	struct indexing indexing = {.profile = query->profile, .rows = ret};
	struct ctx_expression *key = NULL;
	enum ctx_status status = ctx_expression_parse(expression, &key, NULL, err);

	*ret = (struct ctx_query_index){.n_metrics = query->selection->n_metrics};
	if (status == CTX_OK)
		status = ctx_expression_bind(key, query->profile, err);
	if (status == CTX_OK)
		status = ctx_selection_check_asked(query->selection, query->profile, "--by", key, err);
	if (status == CTX_OK) {
		ret->totals = ctx_calloc(ret->n_metrics, sizeof(*ret->totals));
		status = ret->totals != NULL ? CTX_OK : ctx_err_nomem(err);
	}
	indexing.expression = key;
	if (status == CTX_OK)
		status = scan_metrics(query, &indexing, err);
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
