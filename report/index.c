/*
 * Weights by the values of one or several keys: a row for each. Exclusive only: a sample belongs to
 * one row (requirement E16).
 *
 * Columns: the weight in text, with one for each further metric; the keys (report/index_columns.h);
 * the weight in JSON and CSV; then two for each further metric, in CSV only.
 */
#include "base/mem.h"
#include "report/head.h"
#include "report/index_columns.h"
#include "report/kinds.h"
#include "report/metric_view.h"
#include "report/order.h"
#include "report/out.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADING 48u /* maximum width of a metric's name */

static const struct ctx_column first_columns[] = {
	{NULL, "Weight", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},
	{NULL, "Samples", CTX_STYLE_COUNT},
};
static const struct ctx_column last_columns[] = {
	{"samples", NULL, CTX_STYLE_COUNT},
	{"weight", NULL, CTX_STYLE_WEIGHT},
};

/* One expression: the first is its order. Others: by weight, and by each key. */
static const char *const sort_keys[] = {"index", "weight", "samples", NULL};
enum sort { BY_INDEX, BY_WEIGHT, BY_SAMPLES, BY_KEY };

struct table {
	struct ctx_out out;
	const struct ctx_report_selection *selection;
	struct ctx_report_index index;
	size_t n_more;
	uint64_t *more_weights; /* owned, as all below */
	struct ctx_column *columns;
	struct ctx_cell *cells;
	struct ctx_scale *scales;
	const char **groups;
	struct ctx_order_item *items;
	uint64_t *more; /* by row: the further sort keys of its item */
	size_t n_items;
	struct ctx_index_columns keys;
	struct ctx_arena arena;
	size_t n_columns;
	bool ascii;
};

static void table_deinit(struct table *table)
{
	free(table->more_weights);
	free(table->columns);
	free(table->cells);
	free(table->scales);
	free(table->groups);
	free(table->items);
	free(table->more);
	ctx_index_columns_deinit(&table->keys);
	ctx_arena_deinit(&table->arena);
}

static const char *join(struct table *table, const char *first, const char *between, const char *last)
{
	size_t n = strlen(first) + strlen(between) + strlen(last) + 1;
	char *text = ctx_arena_alloc(&table->arena, n);

	if (text != NULL)
		snprintf(text, n, "%s%s%s", first, between, last);
	return text;
}

/* The heading above the columns of a metric, and the scale of their weights. NULL: no memory. */
static const char *group_of(struct table *table, const struct ctx_metric_info *metric, uint64_t total,
			    struct ctx_scale *scale)
{
	*scale = ctx_scale_for(metric->unit, total);
	return ctx_metric_heading(metric, scale, HEADING, table->ascii, &table->arena);
}

/* With several metrics the first one has its name above its columns too. */
static enum ctx_status name_first_columns(struct table *table, struct ctx_err *err)
{
	struct ctx_metric_info metric =
		ctx_head_metric_of(table->selection->profile, table->selection->metrics[0]);
	struct ctx_scale scale;
	const char *group = group_of(table, &metric, table->index.totals[0].weight, &scale);

	if (group == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < CTX_COUNT_OF(first_columns); i++) {
		table->groups[i] = group;
		table->scales[i] = scale;
	}
	return CTX_OK;
}

static enum ctx_status add_more_columns(struct table *table, size_t more, size_t text_at, size_t csv_at,
					struct ctx_err *err)
{
	struct ctx_metric_info metric =
		ctx_head_metric_of(table->selection->profile, table->selection->metrics[more + 1]);
	struct ctx_column *columns = table->columns;

	columns[text_at] = (struct ctx_column){NULL, "Weight", CTX_STYLE_WEIGHT};
	table->groups[text_at] =
		group_of(table, &metric, table->index.totals[more + 1].weight, &table->scales[text_at]);
	columns[csv_at] = (struct ctx_column){join(table, "samples", ".", ctx_metric_word(&metric)), NULL,
					      CTX_STYLE_COUNT};
	columns[csv_at + 1] = (struct ctx_column){join(table, "weight", ".", ctx_metric_word(&metric)), NULL,
						  CTX_STYLE_WEIGHT};
	if (table->groups[text_at] == NULL || columns[csv_at].key == NULL || columns[csv_at + 1].key == NULL)
		return ctx_err_nomem(err);
	return CTX_OK;
}

static enum ctx_status make_columns(struct table *table, struct ctx_err *err)
{
	size_t n_first = CTX_COUNT_OF(first_columns), n_last = table->keys.n + CTX_COUNT_OF(last_columns);
	size_t n_more = table->n_more, n = n_first + n_last + 3 * n_more;
	enum ctx_status status = CTX_OK;

	table->columns = ctx_calloc(n, sizeof(*table->columns));
	table->cells = ctx_calloc(n, sizeof(*table->cells));
	table->scales = ctx_calloc(n, sizeof(*table->scales));
	table->groups = ctx_calloc(n, sizeof(*table->groups));
	table->more_weights = ctx_calloc(n_more, sizeof(*table->more_weights));
	if (table->more_weights == NULL || table->columns == NULL || table->cells == NULL ||
	    table->scales == NULL || table->groups == NULL)
		return ctx_err_nomem(err);
	memcpy(table->columns, first_columns, sizeof(first_columns));
	memcpy(table->columns + n_first + n_more, table->keys.columns,
	       table->keys.n * sizeof(*table->columns));
	memcpy(table->columns + n_first + n_more + table->keys.n, last_columns, sizeof(last_columns));
	if (n_more != 0)
		status = name_first_columns(table, err);
	for (size_t i = 0; i < n_more && status == CTX_OK; i++) {
		table->more_weights[i] = table->index.totals[i + 1].weight;
		status = add_more_columns(table, i, n_first + i, n_first + n_more + n_last + 2 * i, err);
	}
	table->n_columns = n;
	return status;
}

/* JSON: one object for each further metric. */
static void put_metrics(struct ctx_out *out, const struct ctx_report_sum *more)
{
	static const struct ctx_column columns[] = {
		{"name", NULL, CTX_STYLE_NAME},	    {"word", NULL, CTX_STYLE_NAME},
		{"unit", NULL, CTX_STYLE_NAME},	    {"samples", NULL, CTX_STYLE_COUNT},
		{"weight", NULL, CTX_STYLE_WEIGHT},
	};

	if (out->head.n_more == 0)
		return;
	ctx_out_list_begin(out, "metrics");
	for (size_t i = 0; i < out->head.n_more; i++) {
		struct ctx_metric_info metric =
			ctx_head_metric_of(out->profile, out->head.selection.metrics[i + 1]);
		const struct ctx_cell cells[] = {
			ctx_cell_name(metric.name),
			ctx_cell_name(metric.word),
			ctx_cell_name(ctx_unit_word(metric.unit)),
			ctx_cell_number(more[i].samples),
			ctx_cell_number(more[i].weight),
		};

		ctx_out_list_row(out, columns, CTX_COUNT_OF(columns), cells);
	}
	ctx_out_list_end(out);
}

static void put_row(struct table *table, size_t row)
{
	const struct ctx_report_index *index = &table->index;
	const struct ctx_report_sum *sums = &index->sums[row * (table->n_more + 1)];
	struct ctx_cell *cells = table->cells;
	size_t n = 0;

	cells[n++] = ctx_cell_number(sums->weight);
	cells[n++] = ctx_cell_number(sums->weight);
	cells[n++] = ctx_cell_number(sums->samples);
	for (size_t i = 0; i < table->n_more; i++)
		cells[n++] = ctx_cell_number(sums[i + 1].weight);
	ctx_index_columns_fill(&table->keys, &table->out, row, &cells[n]);
	n += table->keys.n;
	cells[n++] = ctx_cell_number(sums->samples);
	cells[n++] = ctx_cell_number(sums->weight);
	for (size_t i = 0; i < table->n_more; i++) {
		cells[n++] = ctx_cell_number(sums[i + 1].samples);
		cells[n++] = ctx_cell_number(sums[i + 1].weight);
	}
	ctx_out_row_begin(&table->out, cells);
	put_metrics(&table->out, sums + 1);
	ctx_out_row_end(&table->out);
}

/* --min-percent: a row stays if it has as much of any metric. */
static bool is_shown(const struct table *table, size_t row, double min_percent)
{
	const struct ctx_report_sum *sums = &table->index.sums[row * (table->n_more + 1)];

	for (size_t i = 0; i <= table->n_more; i++) {
		if ((double)sums[i].weight * 100 >= min_percent * (double)table->index.totals[i].weight)
			return true;
	}
	return false;
}

static struct ctx_order_item item_of(struct table *table, size_t row, size_t by)
{
	const struct ctx_report_index *index = &table->index;
	const struct ctx_report_sum *sum = &index->sums[row * (table->n_more + 1)];
	struct ctx_order_item item = {.index = (uint32_t)row,
				      .more = &table->more[row * index->n_by],
				      .n_more = (uint32_t)index->n_by};

	for (size_t i = 0; i < index->n_by; i++)
		table->more[row * index->n_by + i] =
			ctx_order_ascending(ctx_order_signed(index->keys[row * index->n_by + i]));
	if (by >= BY_KEY)
		ctx_index_columns_order(&table->keys, row, by - BY_KEY, &item);
	else
		item.number = by == BY_INDEX ? item.more[0] : by == BY_WEIGHT ? sum->weight : sum->samples;
	item.second = by >= BY_KEY ? sum->weight : 0;
	return item;
}

static enum ctx_status sort_rows(struct table *table, size_t by, double min_percent, struct ctx_err *err)
{
	const struct ctx_report_index *index = &table->index;

	table->items = ctx_calloc(index->n, sizeof(*table->items));
	table->more = ctx_calloc(index->n, index->n_by * sizeof(*table->more));
	if (table->items == NULL || table->more == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < index->n; i++) {
		if (is_shown(table, i, min_percent))
			table->items[table->n_items++] = item_of(table, i, by);
	}
	ctx_order_sort(table->items, table->n_items);
	return CTX_OK;
}

/* The position of --sort among weight, samples and the keys. */
static enum ctx_status find_sort(const struct table *table, const char *sort, size_t *ret,
				 struct ctx_err *err)
{
	const char *known[CTX_INDEX_KEYS_MAX + CTX_COUNT_OF(sort_keys)];
	size_t n = CTX_COUNT_OF(sort_keys) - 2, place = 0;
	enum ctx_status status;

	if (ctx_index_is_plain(&table->index))
		return ctx_order_find("index", sort, sort_keys, ret, err);
	memcpy(known, &sort_keys[BY_WEIGHT], n * sizeof(*known));
	for (size_t i = 0; i < table->index.n_by; i++)
		known[n++] = table->index.by[i].name;
	known[n] = NULL;
	status = ctx_order_find("index", sort, known, &place, err);
	*ret = place + BY_WEIGHT;
	return status;
}

static enum ctx_status put_table(struct table *table, const struct ctx_report_options *options,
				 struct ctx_err *err)
{
	size_t n = table->n_items, n_csv = 2 * table->n_more;
	const struct ctx_out_spec spec = {
		.kind = &ctx_report_index,
		.selection = table->selection,
		.options = options,
		.columns = table->columns,
		.n_columns = options->format == CTX_REPORT_JSON ? table->n_columns - n_csv : table->n_columns,
		.totals = {.samples = table->index.totals->samples, .weight = table->index.totals->weight},
		.more_weights = table->more_weights,
		.n_more = table->n_more,
	};

	ctx_out_begin(&table->out, &spec);
	if (table->n_more != 0) {
		table->out.scales = table->scales;
		table->out.groups = table->groups;
	}
	for (size_t i = 0; i < n && (options->limit == 0 || i < options->limit); i++)
		put_row(table, table->items[i].index);
	ctx_out_section(&table->out, NULL);
	if (options->limit != 0 && n > options->limit)
		n = options->limit;
	ctx_out_more(&table->out, table->index.n - n, "row");
	ctx_out_rows_end(&table->out);
	return ctx_out_end(&table->out, err);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct table table = {.selection = &source->selection,
			      .n_more = source->selection.n_metrics - 1,
			      .ascii = options->ascii};
	size_t by = 0;
	enum ctx_status status = source->index(source, options->by, NULL, &table.index, err);

	if (status == CTX_OK)
		status = find_sort(&table, options->sort, &by, err);
	if (status == CTX_OK)
		status = ctx_index_columns_init(&table.keys, source->selection.profile, &table.index,
						options->ascii, err);
	if (status == CTX_OK)
		status = make_columns(&table, err);
	if (status == CTX_OK)
		status = sort_rows(&table, by, options->min_percent, err);
	if (status == CTX_OK)
		status = put_table(&table, options, err);
	table_deinit(&table);
	return status;
}

/* Its columns depend on the metrics. */
const struct ctx_report_kind ctx_report_index = {
	.name = "index",
	.metrics = CTX_REPORT_METRICS,
	.no_function = true,
	.needs_key = true,
	.sort_exclusive = "weight",
	.sort_inclusive = "weight",
	.print = print,
};
