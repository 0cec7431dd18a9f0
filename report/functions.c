#include "base/mem.h"
#include "report/head.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/part_cells.h"

static const struct ctx_column columns[] = {
	{NULL, "Excl.", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},
	{NULL, "Incl.", CTX_STYLE_WEIGHT},
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
};

static const char *const sort_keys[] = {
	"exclusive", "inclusive", "exclusive_samples", "inclusive_samples", "function", "object", NULL,
};

static void put_row(struct ctx_out *out, const struct ctx_flat_row *row, struct ctx_cell name,
		    uint32_t thread)
{
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {
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
		ctx_thread_cell(out->input->profile, thread),
		ctx_inlined_cell(out->input->profile, row->function),
		ctx_parts_cell(out->input->profile, row->function),
	};

	ctx_out_row(out, cells);
}

static struct ctx_order_item sort_item(const struct ctx_profile *profile, const struct ctx_flat *flat,
				       uint32_t i, size_t key)
{
	const struct ctx_flat_row *row = &flat->rows[i];
	const uint64_t numbers[] = {row->base, row->cum, row->base_samples, row->cum_samples, 0, 0};
	struct ctx_order_item item = {.index = i, .number = numbers[key]};
	struct ctx_cell name = ctx_function_cell(profile, row->function);

	if (key >= 4)
		item.text = key == 4 ? name.name : name.object != NULL ? name.object : "";
	return item;
}

static void put_other(struct ctx_out *out, uint32_t thread)
{
	const struct ctx_report_input *input = out->input;
	struct ctx_flat_row other = {.function = CTX_NONE,
				     .base = input->omitted_weight,
				     .cum = input->omitted_weight,
				     .base_samples = input->omitted_samples,
				     .cum_samples = input->omitted_samples};

	put_row(out, &other, ctx_cell_name("<Other>"), thread);
}

static void put_part(struct ctx_out *out, uint32_t thread, const struct ctx_flat *flat,
		     const struct ctx_order_item *items)
{
	const struct ctx_report_options *options = out->options;
	bool other = ctx_has_other(out->input);
	struct ctx_flat_row total = {
		.function = CTX_NONE, .base = flat->weight, .base_samples = flat->samples};
	uint32_t shown = 0, left_out = 0;

	if (thread != CTX_NONE)
		ctx_out_section(out, ctx_head_thread_title(out, thread));
	total.base += other ? out->input->omitted_weight : 0;
	total.base_samples += other ? out->input->omitted_samples : 0;
	total.cum = total.base;
	total.cum_samples = total.base_samples;
	put_row(out, &total, ctx_cell_name("<Total>"), thread);
	if (other)
		put_other(out, thread);
	for (uint32_t i = 0; i < flat->n; i++) {
		const struct ctx_flat_row *row = &flat->rows[items[i].index];

		if (!ctx_function_matches(out->input->profile, row->function, options->function))
			continue;
		if (options->limit != 0 && shown == options->limit) {
			left_out++;
			continue;
		}
		shown++;
		put_row(out, row, ctx_function_cell(out->input->profile, row->function), thread);
	}
	ctx_out_section(out, NULL);
	ctx_out_more(out, left_out, "function");
}

static enum ctx_status put_tree(struct ctx_out *out, uint32_t thread, const struct ctx_calltree *tree,
				size_t key, struct ctx_err *err)
{
	struct ctx_order_item *items CTX_AUTO_FREE = NULL;
	struct ctx_flat flat;
	enum ctx_status status = ctx_flat_build(tree, &flat, err);

	if (status != CTX_OK)
		return status;
	items = ctx_calloc(flat.n, sizeof(*items));
	if (items != NULL) {
		for (uint32_t i = 0; i < flat.n; i++)
			items[i] = sort_item(out->input->profile, &flat, i, key);
		ctx_order_sort(items, flat.n);
		put_part(out, thread, &flat, items);
	}
	ctx_flat_deinit(&flat);
	return items != NULL ? CTX_OK : ctx_err_nomem(err);
}

enum ctx_status ctx_report_functions(const struct ctx_report_input *input,
				     const struct ctx_report_options *options, struct ctx_err *err)
{
	return ctx_part_trees_report(input, options, "functions", columns, CTX_COUNT_OF(columns), sort_keys,
				     put_tree, err);
}
