#include "base/mem.h"
#include "report/head.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/part_cells.h"

#include <inttypes.h>

static const struct ctx_column columns[] = {
	{NULL, "Index", CTX_STYLE_COUNT},	 {NULL, "Calls", CTX_STYLE_COUNT},
	{NULL, "Base", CTX_STYLE_WEIGHT},	 {NULL, "Cum", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},		 {"function", "Name", CTX_STYLE_NAME},
	{"object", NULL, CTX_STYLE_NAME},	 {"calls", NULL, CTX_STYLE_COUNT},
	{"base", NULL, CTX_STYLE_WEIGHT},	 {"cum", NULL, CTX_STYLE_WEIGHT},
	{"base_samples", NULL, CTX_STYLE_COUNT}, {"cum_samples", NULL, CTX_STYLE_COUNT},
	{"index", NULL, CTX_STYLE_COUNT},	 {"relation", NULL, CTX_STYLE_NAME},
	{"thread", NULL, CTX_STYLE_COUNT},	 {"inlined", NULL, CTX_STYLE_COUNT},
};

static const char *const sort_keys[] = {"cum", "base", "calls", "function", NULL};

struct page {
	struct ctx_out *out;
	uint32_t thread;
	const struct ctx_stanzas *set;
	uint32_t *index_of; /* by function, the root last: number of its stanza, from 1 */
};

static uint32_t index_of(const struct page *page, uint32_t function)
{
	uint32_t n = page->out->input->profile->n_functions;

	return page->index_of[function < n ? function : n];
}

static void fill_cells(const struct page *page, const struct ctx_edge_row *row, const char *relation,
		       struct ctx_cell *cells)
{
	const struct ctx_profile *profile = page->out->input->profile;
	uint32_t index = index_of(page, row->function);
	bool self = *relation == 's';
	struct ctx_cell name = ctx_function_cell(profile, row->function);
	const struct ctx_cell filled[CTX_COUNT_OF(columns)] = {
		self ? ctx_cell_number(index) : ctx_cell_name(NULL),
		ctx_cell_signed(row->calls),
		ctx_cell_number(row->base),
		ctx_cell_number(row->cum),
		ctx_cell_number(row->cum),
		name,
		ctx_cell_name(name.object),
		ctx_cell_signed(row->calls),
		ctx_cell_number(row->base),
		ctx_cell_number(row->cum),
		ctx_cell_number(row->base_samples),
		ctx_cell_number(row->cum_samples),
		ctx_cell_number(index),
		ctx_cell_name(relation),
		ctx_thread_cell(profile, page->thread),
		ctx_inlined_cell(profile, row->function),
	};

	for (size_t i = 0; i < CTX_COUNT_OF(columns); i++)
		cells[i] = filled[i];
	if (ctx_out_is_text(page->out)) {
		cells[5].drawing = self ? "* " : "    ";
		cells[5].index = ctx_out_format(page->out, " [%" PRIu32 "]", index);
	}
}

static void put_edges(const struct page *page, const struct ctx_edge_row *rows, uint32_t n,
		      const char *relation)
{
	for (uint32_t i = 0; i < n; i++) {
		struct ctx_cell cells[CTX_COUNT_OF(columns)];

		fill_cells(page, &rows[i], relation, cells);
		ctx_out_row(page->out, cells);
	}
}

static void put_list(const struct page *page, const char *key, const struct ctx_edge_row *rows, uint32_t n,
		     const char *relation)
{
	ctx_out_list_begin(page->out, key);
	for (uint32_t i = 0; i < n; i++) {
		struct ctx_cell cells[CTX_COUNT_OF(columns)];

		fill_cells(page, &rows[i], relation, cells);
		ctx_out_list_row(page->out, columns, CTX_COUNT_OF(columns), cells);
	}
	ctx_out_list_end(page->out);
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
	bool json = page->out->options->format == CTX_REPORT_JSON;

	fill_cells(page, &self, "self", cells);
	if (!json) {
		put_edges(page, stanza->parents, stanza->n_parents, "parent");
		ctx_out_row(page->out, cells);
		put_edges(page, stanza->children, stanza->n_children, "child");
		return;
	}
	ctx_out_row_begin(page->out, cells);
	put_list(page, "parents", stanza->parents, stanza->n_parents, "parent");
	put_list(page, "children", stanza->children, stanza->n_children, "child");
	ctx_out_row_end(page->out);
}

static void put_page(struct page *page, const struct ctx_order_item *items)
{
	const struct ctx_report_options *options = page->out->options;
	const struct ctx_profile *profile = page->out->input->profile;
	uint32_t shown = 0, left_out = 0;

	if (page->thread != CTX_NONE)
		ctx_out_section(page->out, ctx_head_thread_title(page->out, page->thread));
	for (uint32_t i = 0; i < page->set->n; i++) {
		const struct ctx_stanza *stanza = &page->set->stanzas[items[i].index];

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

static struct ctx_order_item sort_item(const struct page *page, uint32_t i, size_t key)
{
	const struct ctx_flat_row *self = &page->set->stanzas[i].self;
	/* By cum the set is sorted already. */
	const uint64_t numbers[] = {0, self->base, ctx_order_signed(self->calls), 0};
	struct ctx_order_item item = {.index = i, .number = numbers[key]};

	if (key == 3)
		item.text = ctx_function_cell(page->out->input->profile, self->function).name;
	return item;
}

static enum ctx_status put_tree(struct ctx_out *out, uint32_t thread, const struct ctx_calltree *tree,
				size_t key, struct ctx_err *err)
{
	uint32_t n_functions = out->input->profile->n_functions;
	struct ctx_order_item *items CTX_AUTO_FREE = NULL;
	uint32_t *indexes CTX_AUTO_FREE = ctx_calloc((size_t)n_functions + 1, sizeof(*indexes));
	struct ctx_stanzas set;
	struct page page = {.out = out, .thread = thread, .set = &set, .index_of = indexes};
	enum ctx_status status = ctx_stanzas_build(tree, &set, err);

	if (status != CTX_OK)
		return status;
	items = ctx_calloc(set.n, sizeof(*items));
	if (items != NULL && indexes != NULL) {
		for (uint32_t i = 0; i < set.n; i++) {
			uint32_t function = set.stanzas[i].self.function;

			indexes[function < n_functions ? function : n_functions] = i + 1;
			items[i] = sort_item(&page, i, key);
		}
		ctx_order_sort(items, set.n);
		put_page(&page, items);
	} else {
		status = ctx_err_nomem(err);
	}
	ctx_stanzas_deinit(&set);
	return status;
}

enum ctx_status ctx_report_callers_callees(const struct ctx_report_input *input,
					   const struct ctx_report_options *options, struct ctx_err *err)
{
	return ctx_part_trees_report(input, options, "callers-callees", columns, CTX_COUNT_OF(columns),
				     sort_keys, put_tree, err);
}
