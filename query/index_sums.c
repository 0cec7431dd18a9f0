/*
 * Index: a scan with a hash table from the values of the keys to rows. Memory grows with the number
 * of distinct values.
 *
 *	keys --hash--> first row --next--> another row with this hash --next--> ...
 */
#include "query/query.h"

#include "base/map64.h"
#include "base/mem.h"
#include "query/index_values.h"
#include "query/sample_scan.h"
#include "query/span_parts.h"

#include <stdlib.h>
#include <string.h>

#define ROWS_MAX (UINT32_C(1) << 26)

struct indexing {
	struct ctx_index_values values;
	struct ctx_query_index *rows;
	struct ctx_map64 places; /* hash of the keys -> last row that has it */
	uint32_t *next;		 /* owned; of several keys: by row the one before with its hash; CTX_NONE */
	size_t metric;		 /* number of the metric in the selection */
	size_t keys_cap, sums_cap, next_cap;
	size_t room; /* for so many rows */
	bool counts; /* it counts samples: each weighs 1 */
};

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* For one more row at least. */
static enum ctx_status make_room(struct indexing *indexing, struct ctx_err *err)
{
	struct ctx_query_index *rows = indexing->rows;
	enum ctx_status status = ctx_grow(&rows->keys, &indexing->keys_cap, (rows->n + 1) * rows->n_by, err);

	if (rows->n == ROWS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "--by: more than %u different values", ROWS_MAX);
	if (status == CTX_OK)
		status = ctx_grow(&rows->sums, &indexing->sums_cap, (rows->n + 1) * rows->n_metrics, err);
	if (status == CTX_OK)
		status = ctx_grow(&indexing->next, &indexing->next_cap, rows->n + 1, err);
	if (status != CTX_OK)
		return status;
	indexing->room = least(indexing->keys_cap / rows->n_by, indexing->sums_cap / rows->n_metrics);
	indexing->room = least(least(indexing->room, indexing->next_cap), ROWS_MAX);
	return CTX_OK;
}

static uint64_t hash_of(const int64_t *keys, size_t n)
{
	uint64_t hash = (uint64_t)keys[0];

	for (size_t i = 1; i < n; i++)
		hash = ctx_hash64(hash) + (uint64_t)keys[i];
	return hash;
}

/* The place has the number of the row to be. */
static void begin_row(struct indexing *indexing, const int64_t *keys, uint32_t *place)
{
	struct ctx_query_index *rows = indexing->rows;
	uint32_t row = (uint32_t)rows->n++;

	for (size_t i = 0; i < rows->n_metrics; i++)
		rows->sums[row * rows->n_metrics + i] = (struct ctx_report_sum){0};
	for (size_t i = 0; i < rows->n_by; i++)
		rows->keys[row * rows->n_by + i] = keys[i];
	indexing->next[row] = *place;
	*place = row;
}

/*
 * Created if it is new. Allocations come first: a slot of the map must not stay empty on failure.
 */
static enum ctx_status row_of(struct indexing *indexing, const int64_t *keys, uint32_t *ret,
			      struct ctx_err *err)
{
	const struct ctx_query_index *rows = indexing->rows;
	size_t n_by = rows->n_by;
	uint32_t *place, row;
	enum ctx_status status = rows->n < indexing->room ? CTX_OK : make_room(indexing, err);

	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&indexing->places, hash_of(keys, n_by));
	if (place == NULL)
		return ctx_err_nomem(err);
	row = *place;
	/* The hash of one key is the key. */
	while (n_by != 1 && row != CTX_MAP64_NONE &&
	       memcmp(&rows->keys[row * n_by], keys, n_by * sizeof(*keys)) != 0)
		row = indexing->next[row];
	if (row == CTX_MAP64_NONE) {
		begin_row(indexing, keys, place);
		row = *place;
	}
	*ret = row;
	return CTX_OK;
}

static enum ctx_status add(struct indexing *indexing, const int64_t *keys, uint64_t weight,
			   struct ctx_err *err)
{
	struct ctx_query_index *rows = indexing->rows;
	struct ctx_report_sum *sum;
	uint32_t row = 0;
	enum ctx_status status = row_of(indexing, keys, &row, err);

	if (status != CTX_OK)
		return status;
	sum = &rows->sums[row * rows->n_metrics + indexing->metric];
	sum->samples++;
	sum->weight += weight;
	rows->totals[indexing->metric].samples++;
	rows->totals[indexing->metric].weight += weight;
	return CTX_OK;
}

/* A span has a part in each row whose keys it has at some time. */
static enum ctx_status take_span(struct indexing *indexing, const struct ctx_sample *span,
				 struct ctx_err *err)
{
	const struct ctx_index_values *values = &indexing->values;
	int64_t keys[CTX_INDEX_KEYS_MAX];
	struct ctx_span_parts parts;
	struct ctx_sample part;
	enum ctx_status status;

	if (values->n_expressions != values->n)
		ctx_index_values_fixed(values, span, keys);
	ctx_span_parts_by(values, span, &parts);
	while ((status = ctx_span_parts_next(&parts, &part, err)) == CTX_OK) {
		for (size_t i = 0; i < values->n_expressions; i++)
			keys[values->places[i]] = parts.values[i];
		status = add(indexing, keys, indexing->counts ? 1 : part.weight, err);
		if (status != CTX_OK)
			return status;
	}
	return status == CTX_END ? CTX_OK : status;
}

static enum ctx_status take(void *context, const struct ctx_sample *sample,
			    const struct ctx_traced *operation, struct ctx_err *err)
{
	struct indexing *indexing = context;
	const struct ctx_index_values *values = &indexing->values;
	struct ctx_expression_subject subject;
	int64_t keys[CTX_INDEX_KEYS_MAX];

	if (sample->weight != 0 && ctx_metric_is_clipped(&values->profile->metrics[sample->metric]))
		return take_span(indexing, sample, err);
	if (values->n_expressions != 0) {
		ctx_expression_subject_of(values->profile, sample, &subject);
		if (operation != NULL)
			ctx_expression_subject_add(operation, &subject);
	}
	for (size_t i = 0; i < values->n_expressions; i++)
		keys[values->places[i]] = ctx_expression_key(values->expressions[i], &subject);
	if (values->n_expressions != values->n)
		ctx_index_values_fixed(values, sample, keys);
	return add(indexing, keys, indexing->counts ? 1 : sample->weight, err);
}

static enum ctx_status scan_metrics(struct ctx_query *query, struct indexing *indexing, struct ctx_err *err)
{
	const struct ctx_profile *profile = query->profile;
	struct ctx_scan scan = {
		.reads_operations = indexing->values.asks_operations,
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

static enum ctx_status begin(struct ctx_query *query, const struct ctx_index_keys *keys,
			     const struct ctx_index_stacks *stacks, struct indexing *indexing,
			     struct ctx_err *err)
{
	struct ctx_index_values *values = &indexing->values;
	struct ctx_index_base base = {.profile = query->profile, .stacks = stacks};
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < keys->n && base.code == NULL && status == CTX_OK; i++) {
		if (keys->keys[i].entity == CTX_INDEX_LINE)
			status = ctx_store_code(query->store, &base.code, err);
	}
	if (status == CTX_OK)
		status = ctx_index_values_init(keys, &base, values, err);
	for (size_t i = 0; i < values->n_expressions && status == CTX_OK; i++)
		status = ctx_selection_check_asked(query->selection, query->profile, "--by",
						   values->expressions[i], err);
	if (status == CTX_OK) {
		indexing->rows->totals =
			ctx_calloc(indexing->rows->n_metrics, sizeof(*indexing->rows->totals));
		status = indexing->rows->totals != NULL ? CTX_OK : ctx_err_nomem(err);
	}
	return status;
}

enum ctx_status ctx_query_index(struct ctx_query *query, const struct ctx_index_keys *keys,
				const struct ctx_index_stacks *stacks, struct ctx_query_index *ret,
				struct ctx_err *err)
{
	struct indexing indexing = {.rows = ret};
	enum ctx_status status;

	*ret = (struct ctx_query_index){.n_by = keys->n, .n_metrics = query->selection->n_metrics};
	status = begin(query, keys, stacks, &indexing, err);
	if (status == CTX_OK)
		status = scan_metrics(query, &indexing, err);
	if (status == CTX_OK) {
		ret->names = indexing.values.names;
		indexing.values.names = (struct ctx_strtab){0};
		ret->files = indexing.values.files;
	}
	ctx_map64_deinit(&indexing.places);
	free(indexing.next);
	ctx_index_values_deinit(&indexing.values);
	if (status != CTX_OK)
		ctx_query_index_free(ret);
	return status;
}

void ctx_query_index_free(struct ctx_query_index *index)
{
	free(index->keys);
	free(index->sums);
	free(index->totals);
	ctx_strtab_deinit(&index->names);
	*index = (struct ctx_query_index){0};
}
