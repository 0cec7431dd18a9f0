/*
 * Waits by what was waited for and by the function of the program that waited
 * (model/wait_kind.h). Complete at every level of recording; who ended the waits is there where
 * wakers were recorded.
 */
#include "base/mem.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/state_cells.h"
#include "report/wait_table.h"
#include "report/wakers_rows.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static const struct ctx_column columns[] = {
	{NULL, "Waits", CTX_STYLE_COUNT},   {NULL, "Wait", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},	    {NULL, "Mean ms", CTX_STYLE_TIME},
	{NULL, "Longest", CTX_STYLE_TIME},  {NULL, "Kind", CTX_STYLE_NAME},
	{NULL, "Ended by", CTX_STYLE_NAME}, {NULL, "Caller", CTX_STYLE_NAME},
	{"caller", NULL, CTX_STYLE_NAME},   {"object", NULL, CTX_STYLE_NAME},
	{"kind", NULL, CTX_STYLE_NAME},	    {"state", NULL, CTX_STYLE_NAME},
	{"waits", NULL, CTX_STYLE_COUNT},   {"wait_ns", NULL, CTX_STYLE_TIME},
	{"mean_ns", NULL, CTX_STYLE_TIME},  {"max_ns", NULL, CTX_STYLE_TIME},
	{"waker", NULL, CTX_STYLE_NAME},    {"waker_function", NULL, CTX_STYLE_NAME},
};

static const char *const sort_keys[] = {"wait_ns", "waits",  "mean_ns", "max_ns",
					"kind",	   "caller", "waker",	NULL};

static void put_row(struct ctx_out *out, const struct ctx_wait_row *row, struct ctx_cell caller)
{
	uint64_t mean = ctx_wait_row_mean(row);
	const char *kind = row->kind != CTX_WAIT_KIND_N ? ctx_wait_kind_text(row->kind) : NULL;
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
		ctx_cell_number(row->waits),
		ctx_cell_number(row->wait_ns),
		ctx_cell_number(row->wait_ns),
		ctx_cell_number(mean),
		ctx_cell_number(row->max_ns),
		ctx_cell_name(kind),
		ctx_cell_name(row->waker),
		caller,
		ctx_cell_name(row->caller != CTX_NONE ? caller.name : NULL),
		ctx_cell_name(caller.object),
		ctx_cell_name(kind),
		ctx_cell_name(ctx_wakers_state(row->state, true)),
		ctx_cell_number(row->waits),
		ctx_cell_number(row->wait_ns),
		ctx_cell_number(mean),
		ctx_cell_number(row->max_ns),
		ctx_cell_name(row->waker),
		ctx_wait_waker_cell(out->profile, row),
	};

	ctx_out_row(out, cells);
}

static struct ctx_order_item order_item(const struct ctx_wait_table *table, uint32_t i, size_t key)
{
	const struct ctx_wait_row *row = &table->rows[i];
	const uint64_t numbers[] = {row->wait_ns, row->waits, ctx_wait_row_mean(row), row->max_ns, 0, 0, 0};
	const char *caller = ctx_wait_caller_cell(table->profile, row).name;

	return (struct ctx_order_item){.index = i,
				       .number = numbers[key],
				       .second = row->wait_ns,
				       .text = key == 4	  ? ctx_wait_kind_text(row->kind)
					       : key == 5 ? caller
					       : key == 6 ? (row->waker != NULL ? row->waker : "")
							  : NULL};
}

static enum ctx_status put_rows(const struct ctx_wait_table *table, struct ctx_out *out,
				const struct ctx_wait_row *total, size_t key)
{
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(table->n, sizeof(*items));
	uint32_t limit = table->options->limit;

	if (items == NULL)
		return CTX_E_NOMEM;
	for (uint32_t i = 0; i < table->n; i++)
		items[i] = order_item(table, i, key);
	ctx_order_sort(items, table->n);
	if (ctx_out_is_text(out))
		put_row(out, total, ctx_cell_name("<Total>"));
	for (size_t i = 0; i < table->n && (limit == 0 || i < limit); i++) {
		const struct ctx_wait_row *row = &table->rows[items[i].index];

		put_row(out, row, ctx_wait_caller_cell(table->profile, row));
	}
	ctx_out_section(out, NULL);
	if (limit != 0 && table->n > limit)
		ctx_out_more(out, table->n - limit, "place");
	return CTX_OK;
}

static enum ctx_status put_page(const struct ctx_wait_table *table, struct ctx_out_spec *spec, size_t key,
				struct ctx_err *err)
{
	struct ctx_wait_row total = {.kind = CTX_WAIT_KIND_N, .caller = CTX_NONE, .waker_function = CTX_NONE};
	char note[320];
	struct ctx_head_topic topic = {
		.metric = {.name = "Waits", .unit = CTX_UNIT_NS, .kind = CTX_METRIC_SPAN},
		.counted = "waits",
		.note = ctx_state_note(table->profile, note, sizeof(note))};
	struct ctx_out out;

	for (size_t i = 0; i < table->n; i++) {
		total.waits += table->rows[i].waits;
		total.wait_ns += table->rows[i].wait_ns;
		total.max_ns = table->rows[i].max_ns > total.max_ns ? table->rows[i].max_ns : total.max_ns;
	}
	topic.totals = (struct ctx_totals){.samples = total.waits, .weight = total.wait_ns};
	spec->totals = topic.totals;
	spec->topic = &topic;
	ctx_out_begin(&out, spec);
	ctx_out_fail(&out, put_rows(table, &out, &total, key));
	ctx_out_rows_end(&out);
	return ctx_out_end(&out, err);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	const struct ctx_profile *profile = source->selection.profile;
	struct ctx_out_spec spec = {
		.kind = &ctx_report_waits, .selection = &source->selection, .options = options};
	struct ctx_wait_table table = {0};
	struct ctx_wait_kinds kinds = {0};
	size_t key;
	enum ctx_status status = ctx_order_find("waits", options->sort, sort_keys, &key, err);

	if (status == CTX_OK)
		status = ctx_wakers_check(profile, options, err);
	if (status == CTX_OK)
		status = ctx_wait_kinds_init(&kinds, profile, err);
	if (status == CTX_OK)
		status = ctx_wait_table_build(&table, source, options, &kinds, err);
	if (status == CTX_OK)
		status = put_page(&table, &spec, key, err);
	ctx_wait_table_deinit(&table);
	ctx_wait_kinds_deinit(&kinds);
	return status;
}

const struct ctx_report_kind ctx_report_waits = {
	.name = "waits",
	.metrics = CTX_REPORT_NO_METRIC,
	.takes_subject = true,
	.no_cpu = "who waits is on none",
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
