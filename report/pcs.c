/*
 * Hot instructions. In callers the address is the return address minus 1, which is inside the call
 * instruction.
 */
#include "base/mem.h"
#include "report/code_places.h"
#include "report/code_rows.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"

#include <inttypes.h>
#include <string.h>

static const struct ctx_column columns[] = {
	{NULL, "Self", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},
	{NULL, "Total", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},
	{NULL, "Samples", CTX_STYLE_COUNT},
	{NULL, "Line", CTX_STYLE_PLACE},
	{NULL, "Instruction", CTX_STYLE_NAME},
	{"function", NULL, CTX_STYLE_NAME},
	{"object", NULL, CTX_STYLE_NAME},
	{"offset", NULL, CTX_STYLE_COUNT},
	{"address", NULL, CTX_STYLE_COUNT},
	{"part", NULL, CTX_STYLE_NAME},
	{"file", NULL, CTX_STYLE_NAME},
	{"line", NULL, CTX_STYLE_COUNT},
	{"inlined_function", NULL, CTX_STYLE_NAME},
	{"exclusive", NULL, CTX_STYLE_WEIGHT},
	{"inclusive", NULL, CTX_STYLE_WEIGHT},
	{"exclusive_samples", NULL, CTX_STYLE_COUNT},
	{"inclusive_samples", NULL, CTX_STYLE_COUNT},
};

static const char *const sort_keys[] = {
	"exclusive", "inclusive", "exclusive_samples", "inclusive_samples", "address", "function",
	"file",	     NULL,
};

/* "walk+0x1a", "walk+0x2 in walk.cold", " 0x7f00"; the object is the cell's own. */
static struct ctx_cell place_cell(struct ctx_out *out, const struct ctx_code_place *place, uint64_t address)
{
	struct ctx_cell cell = ctx_function_cell(out->profile, place->function);
	const char *name = place->function != CTX_NONE ? cell.name : "";
	const char *before = place->part != NULL ? " in " : "";
	const char *part = place->part == NULL		      ? ""
			   : strchr(place->part, ' ') != NULL ? "a part"
							      : place->part;

	if (place->has_offset)
		cell.name = ctx_out_format(out, "%s+0x%" PRIx64 "%s%s", name, place->offset, before, part);
	else
		cell.name = ctx_out_format(out, "%s 0x%" PRIx64 "%s%s", name, address, before, part);
	return cell;
}

static void put_row(struct ctx_out *out, const struct ctx_code_view *view, uint32_t index,
		    const struct ctx_code_sum *sum)
{
	const struct ctx_location *location = &view->code->locations[index];
	const struct ctx_site *site = location->site != CTX_NONE ? &view->code->sites[location->site] : NULL;
	struct ctx_code_place place = ctx_code_place_of(view, index);
	struct ctx_cell function = ctx_function_cell(view->profile, place.function);
	bool has_line = site != NULL && site->file != CTX_NONE && site->line != 0;
	const char *file = has_line ? view->code->files[site->file].path : NULL;
	const char *inlined = NULL;

	if (place.function == CTX_NONE)
		function = ctx_cell_name(NULL);
	if (site != NULL && site->caller != CTX_NONE)
		inlined = view->profile->functions[site->function].name;
	ctx_out_row(out, (struct ctx_cell[]){
				 ctx_cell_number(sum->exclusive),
				 ctx_cell_number(sum->exclusive),
				 ctx_cell_number(sum->inclusive),
				 ctx_cell_number(sum->inclusive),
				 ctx_cell_number(sum->exclusive_samples),
				 ctx_cell_name(has_line ? ctx_out_format(out, "%s:%" PRIu32, file, site->line)
							: NULL),
				 place_cell(out, &place, location->address),
				 ctx_cell_name(function.name),
				 location->object < view->profile->n_objects
					 ? ctx_cell_name(view->profile->objects[location->object].path)
					 : ctx_cell_name(NULL),
				 place.has_offset ? ctx_cell_number(place.offset) : ctx_cell_name(NULL),
				 ctx_cell_number(location->address),
				 ctx_cell_name(place.part),
				 ctx_cell_name(file),
				 has_line ? ctx_cell_number(site->line) : ctx_cell_name(NULL),
				 ctx_cell_name(inlined),
				 ctx_cell_number(sum->exclusive),
				 ctx_cell_number(sum->inclusive),
				 ctx_cell_number(sum->exclusive_samples),
				 ctx_cell_number(sum->inclusive_samples),
			 });
}

/*
 * Whether a location is an instruction of a requested function: of the containing function, or of
 * one inlined there.
 */
static bool is_wanted(const struct ctx_code_view *view, uint32_t index, const char *filter)
{
	const struct ctx_location *location = &view->code->locations[index];
	uint32_t function = location->function;

	if (function == CTX_NONE || location->joins ||
	    view->profile->functions[function].kind >= CTX_FUNCTION_TRUNCATED)
		return false;
	if (filter == NULL)
		return true;
	if (location->site == CTX_NONE)
		return ctx_function_matches(view->profile, function, filter);
	for (uint32_t site = location->site; site != CTX_NONE; site = view->code->sites[site].caller) {
		if (ctx_function_matches(view->profile, view->code->sites[site].function, filter))
			return true;
	}
	return false;
}

static void order_by_line(const struct ctx_code *code, uint32_t location, struct ctx_order_item *item)
{
	uint32_t number = code->locations[location].site;
	const struct ctx_site *site = number != CTX_NONE ? &code->sites[number] : NULL;
	bool known = site != NULL && site->file != CTX_NONE && site->line != 0;

	item->text = known ? code->files[site->file].path : "\xff"; /* after all paths */
	item->number = ctx_order_ascending(known ? site->line : 0);
}

static size_t sort_rows(const struct ctx_code_view *view, const struct ctx_code_sum *sums, const char *filter,
			size_t key, struct ctx_order_item *items)
{
	size_t n = 0;

	for (uint32_t i = 0; i < view->code->n_locations; i++) {
		const struct ctx_code_sum *sum = &sums[i];
		uint64_t address = ctx_order_ascending(view->code->locations[i].address);
		const uint64_t numbers[] = {sum->exclusive,
					    sum->inclusive,
					    sum->exclusive_samples,
					    sum->inclusive_samples,
					    address,
					    address,
					    address};

		if ((sum->inclusive == 0 && sum->inclusive_samples == 0) || !is_wanted(view, i, filter))
			continue;
		items[n] =
			(struct ctx_order_item){.number = numbers[key], .second = sum->inclusive, .index = i};
		if (key == 5)
			items[n].text =
				ctx_function_cell(view->profile, ctx_code_real_function(view->code, i)).name;
		else if (key == 6)
			order_by_line(view->code, i, &items[n]);
		n++;
	}
	ctx_order_sort(items, n);
	return n;
}

static enum ctx_status add_up(const struct ctx_code_view *view, struct ctx_code_sum *sums,
			      struct ctx_err *err)
{
	size_t n = view->code->n_locations;
	uint32_t *rows CTX_AUTO_FREE = ctx_calloc(n, sizeof(*rows));

	if (n != 0 && rows == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		rows[i] = (uint32_t)i;
	return ctx_code_add_up(view, &(struct ctx_code_adding){NULL, rows, sums, n}, err);
}

static enum ctx_status print_rows(const struct ctx_code_view *view, const struct ctx_out_spec *spec,
				  size_t key, struct ctx_err *err)
{
	const struct ctx_report_options *options = spec->options;
	size_t n = view->code->n_locations;
	struct ctx_code_sum *sums CTX_AUTO_FREE = ctx_calloc(n, sizeof(*sums));
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(n, sizeof(*items));
	struct ctx_out out;
	enum ctx_status status;

	if (n != 0 && (sums == NULL || items == NULL))
		return ctx_err_nomem(err);
	status = add_up(view, sums, err);
	if (status != CTX_OK)
		return status;
	n = sort_rows(view, sums, options->function, key, items);
	ctx_code_begin(&out, *spec, view);
	for (size_t i = 0; i < n && (options->limit == 0 || i < options->limit); i++)
		put_row(&out, view, items[i].index, &sums[items[i].index]);
	ctx_out_section(&out, NULL);
	if (options->limit != 0 && n > options->limit)
		ctx_out_more(&out, n - options->limit, "instruction");
	ctx_out_rows_end(&out);
	return ctx_out_end(&out, err);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	const struct ctx_out_spec spec = {
		.kind = &ctx_report_pcs, .selection = &source->selection, .options = options};
	struct ctx_code_view view;
	size_t key;
	enum ctx_status status = ctx_order_find("pcs", options->sort, sort_keys, &key, err);

	if (status == CTX_OK)
		status = ctx_code_view_pull(source, options->function, &view, err);
	return status == CTX_OK ? print_rows(&view, &spec, key, err) : status;
}

static const struct ctx_report_alias aliases[] = {{"psummary", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_pcs = {
	.name = "pcs",
	.sort_exclusive = "exclusive",
	.sort_inclusive = "inclusive",
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
