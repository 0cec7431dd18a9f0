#include "base/mem.h"
#include "report/calls.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"

#include <inttypes.h>

static const struct ctx_column columns[] = {
	{NULL, "Index", CTX_STYLE_COUNT},	 {NULL, "Calls", CTX_STYLE_COUNT},
	{NULL, "Self", CTX_STYLE_WEIGHT},	 {NULL, "Total", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},		 {"function", "Name", CTX_STYLE_NAME},
	{"object", NULL, CTX_STYLE_NAME},	 {"calls", NULL, CTX_STYLE_COUNT},
	{"base", NULL, CTX_STYLE_WEIGHT},	 {"cum", NULL, CTX_STYLE_WEIGHT},
	{"base_samples", NULL, CTX_STYLE_COUNT}, {"cum_samples", NULL, CTX_STYLE_COUNT},
	{"index", NULL, CTX_STYLE_COUNT},	 {"relation", NULL, CTX_STYLE_NAME},
	{"thread", NULL, CTX_STYLE_COUNT},	 {"inlined", NULL, CTX_STYLE_COUNT},
	{"calls_exact", NULL, CTX_STYLE_COUNT},	 {"thread_id", NULL, CTX_STYLE_COUNT},
	{"elapsed", NULL, CTX_STYLE_TIME},	 {"origin", NULL, CTX_STYLE_NAME},
};

static const char *const sort_keys[] = {"cum", "base", "calls", "function", NULL};

static const struct ctx_metric_form form = {
	.base_title = "Self",
	.cum_title = "Total",
	.base_key = "base",
	.cum_key = "cum",
	.base_samples_key = "base_samples",
	.cum_samples_key = "cum_samples",
	.has_calls = true,
	.n_lead = 2,
	.lead_width = 13,
	.name = 5,
	.wanted = 24,
	.n_traced = 2,
};

struct page {
	const struct ctx_part_page *part;
	struct ctx_out *out;
	size_t n_more;
	struct ctx_stanzas *sets;  /* by metric; from the second on, rows are sorted by function */
	uint32_t *index_of;	   /* by function, the root last: number of its stanza, from 1 */
	uint32_t *place_of;	   /* by further metric and function, the root last: its stanza */
	struct ctx_flat_row *more; /* scratch: the values of a row in the further metrics */
	uint64_t *further;	   /* scratch of sorting */
	struct ctx_order_item *items;
};

static uint32_t place_of(const struct page *page, uint32_t function)
{
	uint32_t n = page->out->profile->n_functions;

	return function < n ? function : n;
}

static struct ctx_flat_row flat_row(const struct ctx_edge_row *row)
{
	return (struct ctx_flat_row){.function = row->function,
				     .base = row->base,
				     .cum = row->cum,
				     .base_samples = row->base_samples,
				     .cum_samples = row->cum_samples,
				     .calls = row->calls};
}

static int by_function(const void *left, const void *right)
{
	const struct ctx_edge_row *a = left, *b = right;

	return a->function < b->function ? -1 : a->function > b->function;
}

static const struct ctx_stanza *further_stanza(const struct page *page, size_t metric, uint32_t function)
{
	size_t n = (size_t)page->out->profile->n_functions + 1;

	return &page->sets[metric + 1].stanzas[page->place_of[metric * n + place_of(page, function)]];
}

/*
 * Values of an edge of `function`'s stanza in the further metrics. Their trees have the same nodes,
 * so the edge exists in each.
 */
static void find_more(const struct page *page, uint32_t function, const struct ctx_edge_row *row,
		      char relation, struct ctx_flat_row *more)
{
	for (size_t i = 0; i < page->n_more; i++) {
		const struct ctx_stanza *stanza = further_stanza(page, i, function);
		const struct ctx_edge_row *found;

		if (relation == 's') {
			more[i] = stanza->self;
			continue;
		}
		found = relation == 'p'
				? bsearch(row, stanza->parents, stanza->n_parents, sizeof(*row), by_function)
				: bsearch(row, stanza->children, stanza->n_children, sizeof(*row),
					  by_function);
		more[i] = found != NULL ? flat_row(found) : (struct ctx_flat_row){.function = row->function};
	}
}

/* `page->more` has the further metrics of the row. */
static void fill_cells(const struct page *page, const struct ctx_edge_row *row, const char *relation,
		       struct ctx_cell *cells)
{
	const struct ctx_profile *profile = page->out->profile;
	uint32_t index = page->index_of[place_of(page, row->function)];
	bool self = *relation == 's';
	struct ctx_cell name = ctx_function_cell(profile, row->function);
	const struct ctx_flat_row numbers = flat_row(row);
	struct ctx_calls_seen seen =
		ctx_calls_seen_of(page->part->view->selection, &numbers, page->more, page->n_more);
	struct ctx_cell calls = !seen.known   ? ctx_cell_signed(row->calls)
				: seen.traced ? ctx_cell_signed(seen.calls)
					      : ctx_cell_name(NULL);
	const struct ctx_cell filled[CTX_COUNT_OF(columns)] = {
		self ? ctx_cell_number(index) : ctx_cell_name(NULL),
		seen.known ? calls : ctx_calls_cell(page->out, row->calls),
		ctx_cell_number(row->base),
		ctx_cell_number(row->cum),
		ctx_cell_number(row->cum),
		name,
		ctx_cell_name(name.object),
		calls,
		ctx_cell_number(row->base),
		ctx_cell_number(row->cum),
		ctx_cell_number(row->base_samples),
		ctx_cell_number(row->cum_samples),
		ctx_cell_number(index),
		ctx_cell_name(relation),
		ctx_thread_cell(profile, page->part->thread),
		ctx_inlined_cell(profile, row->function),
		ctx_cell_bool(seen.known || ctx_calls_exact_here(page->out)),
		ctx_thread_id_cell(profile, page->part->thread),
		ctx_calls_elapsed_cell(&seen),
		ctx_calls_origin_cell(&seen),
	};

	for (size_t i = 0; i < CTX_COUNT_OF(columns); i++)
		cells[i] = filled[i];
	if (ctx_out_is_text(page->out)) {
		cells[5].drawing = self ? "* " : "    ";
		cells[5].level = self ? 0 : 2;
		cells[5].anchor = self ? CTX_ANCHOR_STANZA : CTX_ANCHOR_NONE;
		cells[5].index = ctx_out_format(page->out, " [%" PRIu32 "]", index);
	}
}

/* The callers or callees of a stanza. */
struct edges {
	const struct ctx_edge_row *rows;
	uint32_t n;
	const char *relation; /* "parent", "child" */
};

static void put_edges(const struct page *page, uint32_t function, const struct edges *edges)
{
	for (uint32_t i = 0; i < edges->n; i++) {
		const struct ctx_edge_row *row = &edges->rows[i];
		struct ctx_cell cells[CTX_COUNT_OF(columns)];
		struct ctx_flat_row numbers = flat_row(row);

		find_more(page, function, row, *edges->relation, page->more);
		fill_cells(page, row, edges->relation, cells);
		ctx_metric_view_row(page->part->view, page->out, cells, &numbers, page->more);
	}
}

static void put_list(const struct page *page, const char *key, uint32_t function, const struct edges *edges)
{
	ctx_out_list_begin(page->out, key);
	for (uint32_t i = 0; i < edges->n; i++) {
		struct ctx_cell cells[CTX_COUNT_OF(columns)];

		find_more(page, function, &edges->rows[i], *edges->relation, page->more);
		fill_cells(page, &edges->rows[i], edges->relation, cells);
		ctx_metric_view_list_row(page->part->view, page->out, cells, page->more);
	}
	ctx_out_list_end(page->out);
}

/*
 * Sorts by cum of the first metric, then of the second, and so on. The input is sorted by the
 * first.
 */
static enum ctx_status sort_edges(const struct page *page, uint32_t function, struct ctx_edge_row *rows,
				  uint32_t n, char relation)
{
	struct ctx_edge_row *copy CTX_AUTO_FREE = NULL;
	uint64_t *further CTX_AUTO_FREE = NULL;
	struct ctx_order_item *items CTX_AUTO_FREE = NULL;

	if (page->n_more == 0 || n < 2)
		return CTX_OK;
	copy = ctx_calloc(n, sizeof(*copy));
	further = ctx_calloc(n, page->n_more * sizeof(*further));
	items = ctx_calloc(n, sizeof(*items));
	if (copy == NULL || further == NULL || items == NULL)
		return CTX_E_NOMEM;
	for (uint32_t i = 0; i < n; i++) {
		copy[i] = rows[i];
		find_more(page, function, &rows[i], relation, page->more);
		for (size_t m = 0; m < page->n_more; m++)
			further[i * page->n_more + m] = page->more[m].cum;
		items[i] = (struct ctx_order_item){.index = i,
						   .number = rows[i].cum,
						   .more = &further[i * page->n_more],
						   .n_more = (uint32_t)page->n_more};
	}
	ctx_order_sort(items, n);
	for (uint32_t i = 0; i < n; i++)
		rows[i] = copy[items[i].index];
	return CTX_OK;
}

static void put_stanza(const struct page *page, const struct ctx_stanza *stanza)
{
	const struct ctx_flat_row *flat = &stanza->self;
	const struct ctx_edge_row self = {.function = flat->function,
					  .calls = flat->calls,
					  .base = flat->base,
					  .cum = flat->cum,
					  .base_samples = flat->base_samples,
					  .cum_samples = flat->cum_samples};
	struct ctx_cell cells[CTX_COUNT_OF(columns)];
	bool lists = ctx_out_has_lists(page->out);

	ctx_out_fail(page->out, sort_edges(page, flat->function, stanza->parents, stanza->n_parents, 'p'));
	ctx_out_fail(page->out, sort_edges(page, flat->function, stanza->children, stanza->n_children, 'c'));
	find_more(page, flat->function, &self, 's', page->more);
	fill_cells(page, &self, "self", cells);
	if (!lists)
		put_edges(page, flat->function,
			  &(struct edges){stanza->parents, stanza->n_parents, "parent"});
	find_more(page, flat->function, &self, 's', page->more);
	ctx_metric_view_row_begin(page->part->view, page->out, cells, flat, page->more);
	if (lists) {
		put_list(page, "parents", flat->function,
			 &(struct edges){stanza->parents, stanza->n_parents, "parent"});
		put_list(page, "children", flat->function,
			 &(struct edges){stanza->children, stanza->n_children, "child"});
	}
	ctx_out_row_end(page->out);
	if (!lists)
		put_edges(page, flat->function,
			  &(struct edges){stanza->children, stanza->n_children, "child"});
}

static void put_page(struct page *page)
{
	const struct ctx_report_options *options = page->out->options;
	const struct ctx_profile *profile = page->out->profile;
	uint32_t shown = 0, left_out = 0;

	if (profile->losses.call_stacks)
		return;
	if (page->part->thread != CTX_NONE)
		ctx_out_section(page->out, ctx_thread_title(page->out, page->part->thread));
	for (uint32_t i = 0; i < page->sets->n; i++) {
		const struct ctx_stanza *stanza = &page->sets->stanzas[page->items[i].index];

		if (!ctx_function_matches(profile, stanza->self.function, options->function))
			continue;
		if (options->limit != 0 && shown == options->limit) {
			left_out++;
			continue;
		}
		if (shown++ != 0)
			ctx_out_rule(page->out);
		put_stanza(page, stanza);
	}
	ctx_out_section(page->out, NULL);
	ctx_out_more(page->out, left_out, "function");
}

/*
 * <Total> comes first in the order of cum. Ties are broken by the further metrics, then by the
 * position in the set.
 */
static struct ctx_order_item sort_item(const struct page *page, uint32_t i)
{
	const struct ctx_flat_row *self = &page->sets->stanzas[i].self;
	bool root = self->function == CTX_TRIE_ROOT_KEY, cum = page->part->key == 0;
	const uint64_t numbers[] = {root ? UINT64_MAX : self->cum, self->base, ctx_order_signed(self->calls),
				    0};
	struct ctx_order_item item = {.index = i};
	size_t metric;

	find_more(page, self->function, &(struct ctx_edge_row){0}, 's', page->more);
	if (ctx_metric_view_key(page->part->view, page->part->key, &metric, &cum))
		item.number = cum ? page->more[metric - 1].cum : page->more[metric - 1].base;
	else
		item.number = numbers[page->part->key];
	if (page->part->key == 3)
		item.text = ctx_function_cell(page->out->profile, self->function).name;
	if (page->n_more == 0 || page->part->key >= 2)
		return item;
	for (size_t m = 0; m < page->n_more; m++)
		page->further[i * page->n_more + m] = cum ? page->more[m].cum : page->more[m].base;
	item.more = &page->further[i * page->n_more];
	item.n_more = (uint32_t)page->n_more;
	return item;
}

static void page_deinit(struct page *page)
{
	for (size_t i = 0; page->sets != NULL && i <= page->n_more; i++)
		ctx_stanzas_deinit(&page->sets[i]);
	free(page->sets);
	free(page->index_of);
	free(page->place_of);
	free(page->more);
	free(page->further);
	free(page->items);
}

static enum ctx_status add_metric(struct page *page, size_t metric, struct ctx_err *err)
{
	size_t n_functions = (size_t)page->out->profile->n_functions + 1;
	struct ctx_stanzas *set = &page->sets[metric + 1];
	enum ctx_status status = ctx_stanzas_build(&page->part->tree[metric + 1], set, err);

	for (uint32_t i = 0; status == CTX_OK && i < set->n; i++) {
		struct ctx_stanza *stanza = &set->stanzas[i];

		page->place_of[metric * n_functions + place_of(page, stanza->self.function)] = i;
		if (stanza->n_parents > 1)
			qsort(stanza->parents, stanza->n_parents, sizeof(*stanza->parents), by_function);
		if (stanza->n_children > 1)
			qsort(stanza->children, stanza->n_children, sizeof(*stanza->children), by_function);
	}
	return status;
}

static enum ctx_status page_init(struct page *page, struct ctx_err *err)
{
	size_t n_functions = (size_t)page->out->profile->n_functions + 1;
	enum ctx_status status;

	page->sets = ctx_calloc(page->n_more + 1, sizeof(*page->sets));
	page->index_of = ctx_calloc(n_functions, sizeof(*page->index_of));
	page->place_of = ctx_calloc(n_functions, page->n_more * sizeof(*page->place_of));
	page->more = ctx_calloc(page->n_more, sizeof(*page->more));
	if (page->sets == NULL || page->index_of == NULL || page->place_of == NULL || page->more == NULL)
		return ctx_err_nomem(err);
	status = ctx_stanzas_build(page->part->tree, page->sets, err);
	for (size_t i = 0; i < page->n_more && status == CTX_OK; i++)
		status = add_metric(page, i, err);
	if (status != CTX_OK)
		return status;
	page->items = ctx_calloc(page->sets->n, sizeof(*page->items));
	page->further = ctx_calloc(page->sets->n, page->n_more * sizeof(*page->further));
	if (page->items == NULL || page->further == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < page->sets->n; i++) {
		page->index_of[place_of(page, page->sets->stanzas[i].self.function)] = i + 1;
		page->items[i] = sort_item(page, i);
	}
	ctx_order_sort(page->items, page->sets->n);
	return CTX_OK;
}

static enum ctx_status put_part(const struct ctx_part_page *part, struct ctx_err *err)
{
	struct page page = {.part = part, .out = part->out, .n_more = part->view->n_more};
	enum ctx_status status = page_init(&page, err);

	if (status == CTX_OK)
		put_page(&page);
	page_deinit(&page);
	return status;
}

static const struct ctx_part_report report = {.kind = &ctx_report_callers_callees,
					      .calls = true,
					      .form = &form,
					      .sort_keys = sort_keys,
					      .put = put_part};

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	return ctx_part_trees_report(source, options, &report, err);
}

static const struct ctx_report_alias aliases[] = {
	{"gprof", false}, {"csingle", true}, {"callers-callees-single", true}, {NULL, false}};

const struct ctx_report_kind ctx_report_callers_callees = {
	.name = "callers-callees",
	.metrics = CTX_REPORT_METRICS,
	.takes_function = true,
	.sort_exclusive = "base",
	.sort_inclusive = "cum",
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
