#include "base/mem.h"
#include "report/calls.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"

static const struct ctx_column columns[] = {
	{NULL, "Calls", CTX_STYLE_COUNT},
	{NULL, "Self", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},
	{NULL, "Total", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},
	{NULL, "Samples", CTX_STYLE_COUNT},
	{"function", "Name", CTX_STYLE_NAME},
	{"object", NULL, CTX_STYLE_NAME},
	{"exclusive", NULL, CTX_STYLE_WEIGHT},
	{"inclusive", NULL, CTX_STYLE_WEIGHT},
	{"exclusive_samples", NULL, CTX_STYLE_COUNT},
	{"inclusive_samples", NULL, CTX_STYLE_COUNT},
	{"thread", NULL, CTX_STYLE_COUNT},
	{"inlined", NULL, CTX_STYLE_COUNT},
	{"parts", NULL, CTX_STYLE_NAME},
	{"thread_id", NULL, CTX_STYLE_COUNT},
	{"calls", NULL, CTX_STYLE_COUNT},
	{"calls_exact", NULL, CTX_STYLE_COUNT},
	{"elapsed", NULL, CTX_STYLE_TIME},
	{"origin", NULL, CTX_STYLE_NAME},
};

static const char *const sort_keys[] = {
	"exclusive", "inclusive", "exclusive_samples", "inclusive_samples", "function", "object",
	"calls",     NULL,
};

static const struct ctx_metric_form form = {
	.base_title = "Self",
	.cum_title = "Total",
	.base_key = "exclusive",
	.cum_key = "inclusive",
	.base_samples_key = "exclusive_samples",
	.cum_samples_key = "inclusive_samples",
	.n_lead = 1,
	.lead_width = 8,
	.cum_column = 3,
	.name = 6,
	.wanted = 18,
	.n_traced = 4,
	.traced_lead = true,
};

/* The functions of one part, in every metric. */
struct list {
	const struct ctx_part_page *page;
	struct ctx_flat flat; /* of the first metric: its rows are shown */
	size_t n_more;
	struct ctx_flat_row *more; /* by row of flat: n_more each */
	struct ctx_flat_row *more_totals;
	uint64_t *further; /* by row: sort key where the first metric is equal */
	struct ctx_order_item *items;
};

static void list_deinit(struct list *list)
{
	ctx_flat_deinit(&list->flat);
	free(list->more);
	free(list->more_totals);
	free(list->further);
	free(list->items);
}

/* The trees have the same nodes, so every function of the first is in the others. */
static enum ctx_status add_metric(struct list *list, size_t metric, uint32_t *row_of, struct ctx_err *err)
{
	struct ctx_flat flat;
	enum ctx_status status = ctx_flat_build(&list->page->tree[metric + 1], &flat, err);

	if (status != CTX_OK)
		return status;
	for (uint32_t i = 0; i < flat.n; i++)
		row_of[flat.rows[i].function] = i;
	for (uint32_t i = 0; i < list->flat.n; i++)
		list->more[i * list->n_more + metric] = flat.rows[row_of[list->flat.rows[i].function]];
	list->more_totals[metric] = (struct ctx_flat_row){.function = CTX_NONE,
							  .base = flat.weight,
							  .cum = flat.weight,
							  .base_samples = flat.samples,
							  .cum_samples = flat.samples};
	ctx_flat_deinit(&flat);
	return CTX_OK;
}

static enum ctx_status list_init(struct list *list, struct ctx_err *err)
{
	uint32_t *row_of CTX_AUTO_FREE = NULL;
	enum ctx_status status = ctx_flat_build(list->page->tree, &list->flat, err);
	size_t n = list->flat.n;

	list->n_more = list->page->view->n_more;
	if (status != CTX_OK)
		return status;
	list->items = ctx_calloc(n, sizeof(*list->items));
	if (list->items == NULL)
		return ctx_err_nomem(err);
	if (list->n_more == 0)
		return CTX_OK;
	row_of = ctx_calloc(list->page->tree->n_functions, sizeof(*row_of));
	list->more = ctx_calloc(n, list->n_more * sizeof(*list->more));
	list->more_totals = ctx_calloc(list->n_more, sizeof(*list->more_totals));
	list->further = ctx_calloc(n, list->n_more * sizeof(*list->further));
	if (row_of == NULL || list->more == NULL || list->more_totals == NULL || list->further == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < list->n_more && status == CTX_OK; i++)
		status = add_metric(list, i, row_of, err);
	return status;
}

static void put_row(struct list *list, const struct ctx_flat_row *row, const struct ctx_flat_row *more,
		    struct ctx_cell name)
{
	struct ctx_out *out = list->page->out;
	struct ctx_calls_seen seen =
		ctx_calls_seen_of(list->page->view->selection, row, more, more != NULL ? list->n_more : 0);
	struct ctx_cell absent = {.kind = CTX_CELL_ABSENT};
	struct ctx_cell calls = !seen.known				   ? absent
				: seen.traced && row->function != CTX_NONE ? ctx_cell_signed(seen.calls)
									   : ctx_cell_name(NULL);
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
		calls,
		ctx_cell_number(row->base),
		ctx_cell_number(row->base),
		ctx_cell_number(row->cum),
		ctx_cell_number(row->cum),
		ctx_cell_number(row->base_samples),
		name,
		ctx_cell_name(name.object),
		ctx_cell_number(row->base),
		ctx_cell_number(row->cum),
		ctx_cell_number(row->base_samples),
		ctx_cell_number(row->cum_samples),
		ctx_thread_cell(out->profile, list->page->thread),
		ctx_inlined_cell(out->profile, row->function),
		ctx_parts_cell(out->profile, row->function),
		ctx_thread_id_cell(out->profile, list->page->thread),
		calls,
		seen.known ? ctx_cell_bool(true) : absent,
		ctx_calls_elapsed_cell(&seen),
		ctx_calls_origin_cell(&seen),
	};

	ctx_metric_view_hide_cum(list->page->view, cells);
	ctx_metric_view_row(list->page->view, out, cells, row, more);
}

/* By the key; ties by the same key of the further metrics. */
static struct ctx_order_item sort_item(const struct list *list, uint32_t i)
{
	const struct ctx_flat_row *row = &list->flat.rows[i];
	const struct ctx_flat_row *more = list->n_more != 0 ? &list->more[i * list->n_more] : NULL;
	struct ctx_calls_seen seen = ctx_calls_seen_of(list->page->view->selection, row, more, list->n_more);
	const uint64_t numbers[] = {row->base, row->cum, row->base_samples,	      row->cum_samples,
				    0,	       0,	 ctx_order_signed(seen.calls)};
	struct ctx_order_item item = {.index = i};
	size_t key = list->page->key, metric;
	struct ctx_cell name = ctx_function_cell(list->page->out->profile, row->function);
	bool cum = key == 1 || key == 3;

	if (ctx_metric_view_key(list->page->view, key, &metric, &cum))
		item.number = cum ? more[metric - 1].cum : more[metric - 1].base;
	else
		item.number = numbers[key];
	if (key == 4 || key == 5)
		item.text = key == 4 ? name.name : name.object != NULL ? name.object : "";
	if (more == NULL || key >= 2)
		return item;
	for (size_t m = 0; m < list->n_more; m++)
		list->further[i * list->n_more + m] = cum ? more[m].cum : more[m].base;
	item.more = &list->further[i * list->n_more];
	item.n_more = (uint32_t)list->n_more;
	return item;
}

static void put_heads(struct list *list)
{
	const struct ctx_report_omitted *omitted = &list->page->out->head.omitted;
	bool has_other = list->page->out->head.has_other;
	struct ctx_flat_row other = {.function = CTX_NONE,
				     .base = omitted->weight,
				     .cum = omitted->weight,
				     .base_samples = omitted->samples,
				     .cum_samples = omitted->samples};
	struct ctx_flat_row total = {
		.function = CTX_NONE, .base = list->flat.weight, .base_samples = list->flat.samples};

	total.base += has_other ? other.base : 0;
	total.base_samples += has_other ? other.base_samples : 0;
	total.cum = total.base;
	total.cum_samples = total.base_samples;
	put_row(list, &total, list->more_totals, ctx_cell_name("<Total>"));
	/* Exists with one metric only. */
	if (has_other)
		put_row(list, &other, NULL, ctx_cell_name("<Other>"));
}

static void put_list(struct list *list)
{
	struct ctx_out *out = list->page->out;
	const struct ctx_report_options *options = out->options;
	uint32_t shown = 0, left_out = 0;

	if (list->page->thread != CTX_NONE)
		ctx_out_section(out, ctx_thread_title(out, list->page->thread));
	put_heads(list);
	for (uint32_t i = 0; i < list->flat.n; i++) {
		uint32_t index = list->items[i].index;
		const struct ctx_flat_row *row = &list->flat.rows[index];
		struct ctx_cell name;

		if (!ctx_function_matches(out->profile, row->function, options->function))
			continue;
		if (options->limit != 0 && shown == options->limit) {
			left_out++;
			continue;
		}
		shown++;
		name = ctx_function_cell(out->profile, row->function);
		name.anchor = CTX_ANCHOR_ROW;
		put_row(list, row, list->n_more != 0 ? &list->more[index * list->n_more] : NULL, name);
	}
	ctx_out_section(out, NULL);
	ctx_out_more(out, left_out, "function");
}

static enum ctx_status put_page(const struct ctx_part_page *page, struct ctx_err *err)
{
	struct list list = {.page = page};
	enum ctx_status status = list_init(&list, err);

	if (status == CTX_OK) {
		for (uint32_t i = 0; i < list.flat.n; i++)
			list.items[i] = sort_item(&list, i);
		ctx_order_sort(list.items, list.flat.n);
		put_list(&list);
	}
	list_deinit(&list);
	return status;
}

static const struct ctx_part_report report = {
	.kind = &ctx_report_functions, .form = &form, .sort_keys = sort_keys, .put = put_page};

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	return ctx_part_trees_report(source, options, &report, err);
}

static const struct ctx_report_alias aliases[] = {
	{"fsummary", false}, {"fsingle", true}, {"func", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_functions = {
	.name = "functions",
	.metrics = CTX_REPORT_METRICS,
	.takes_function = true,
	.sort_exclusive = "exclusive",
	.sort_inclusive = "inclusive",
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
