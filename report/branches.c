/*
 * Branch stacks: from which function to which, from where to where, how often taken and mispredicted, blocks and their cycles, loops.
 */
#include "report/branch_sums.h"
#include "report/code_places.h"
#include "report/kinds.h"
#include "report/part_cells.h"
#include "report/traced_page.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <inttypes.h>

enum {
	SECTION,
	COUNT,
	SHARE,
	KNOWN,
	MISPREDICTED,
	PASSED,
	TIMED,
	CYCLES,
	LEAST,
	MOST,
	BYTES,
	ENTRIES,
	KIND,
	FUNCTION,
	OBJECT,
	OFFSET,
	ADDRESS,
	FILE_NAME,
	LINE,
	TO_FUNCTION,
	TO_OBJECT,
	TO_OFFSET,
	TO_ADDRESS,
	TO_FILE,
	TO_LINE,
	MISPREDICTED_SHARE,
	TAKEN_SHARE,
	AVERAGE,
	ITERATIONS,
	PLACE,
	TO_PLACE,
	N_COLUMNS
};

static const struct ctx_column columns[] = {
	[SECTION] = {"section", NULL, CTX_STYLE_NAME},
	[COUNT] = {"count", NULL, CTX_STYLE_COUNT},
	[SHARE] = {NULL, NULL, CTX_STYLE_COUNT},
	[KNOWN] = {"predictions", NULL, CTX_STYLE_COUNT},
	[MISPREDICTED] = {"mispredicted", NULL, CTX_STYLE_COUNT},
	[PASSED] = {"not_taken", NULL, CTX_STYLE_COUNT},
	[TIMED] = {"timed", NULL, CTX_STYLE_COUNT},
	[CYCLES] = {"cycles", NULL, CTX_STYLE_COUNT},
	[LEAST] = {"least_cycles", NULL, CTX_STYLE_COUNT},
	[MOST] = {"most_cycles", NULL, CTX_STYLE_COUNT},
	[BYTES] = {"bytes", NULL, CTX_STYLE_COUNT},
	[ENTRIES] = {"entries", NULL, CTX_STYLE_COUNT},
	[KIND] = {"kind", NULL, CTX_STYLE_NAME},
	[FUNCTION] = {"function", NULL, CTX_STYLE_NAME},
	[OBJECT] = {"object", NULL, CTX_STYLE_NAME},
	[OFFSET] = {"offset", NULL, CTX_STYLE_COUNT},
	[ADDRESS] = {"address", NULL, CTX_STYLE_COUNT},
	[FILE_NAME] = {"file", NULL, CTX_STYLE_NAME},
	[LINE] = {"line", NULL, CTX_STYLE_COUNT},
	[TO_FUNCTION] = {"to_function", NULL, CTX_STYLE_NAME},
	[TO_OBJECT] = {"to_object", NULL, CTX_STYLE_NAME},
	[TO_OFFSET] = {"to_offset", NULL, CTX_STYLE_COUNT},
	[TO_ADDRESS] = {"to_address", NULL, CTX_STYLE_COUNT},
	[TO_FILE] = {"to_file", NULL, CTX_STYLE_NAME},
	[TO_LINE] = {"to_line", NULL, CTX_STYLE_COUNT},
	[MISPREDICTED_SHARE] = {NULL, NULL, CTX_STYLE_COUNT},
	[TAKEN_SHARE] = {NULL, NULL, CTX_STYLE_COUNT},
	[AVERAGE] = {NULL, NULL, CTX_STYLE_COUNT},
	[ITERATIONS] = {"iterations", NULL, CTX_STYLE_COUNT},
	[PLACE] = {NULL, NULL, CTX_STYLE_KEY},
	[TO_PLACE] = {NULL, NULL, CTX_STYLE_NAME},
};

static const struct ctx_section_column function_columns[] = {
	{COUNT, "Taken"},    {SHARE, "%"},    {MISPREDICTED_SHARE, "Mispr. %"},
	{AVERAGE, "Cycles"}, {PLACE, "From"}, {TO_PLACE, "To"}};
static const struct ctx_section_column edge_columns[] = {
	{COUNT, "Taken"},	  {SHARE, "%"},	       {MISPREDICTED_SHARE, "Mispr. %"},
	{TAKEN_SHARE, "Taken %"}, {AVERAGE, "Cycles"}, {KIND, "Kind"},
	{PLACE, "From"},	  {TO_PLACE, "To"}};
static const struct ctx_section_column loop_columns[] = {
	{ITERATIONS, "Iterations"},	  {ENTRIES, "Entries"}, {COUNT, "Back"}, {AVERAGE, "Cycles"},
	{MISPREDICTED_SHARE, "Mispr. %"}, {TO_PLACE, "Head"}};
static const struct ctx_section_column block_columns[] = {{COUNT, "Runs"},
							  {SHARE, "%"},
							  {AVERAGE, "Cycles"},
							  {LEAST, "Least"},
							  {MOST, "Most"},
							  {BYTES, "Bytes"},
							  {TO_PLACE, "Block, to its branch"}};
static const struct ctx_section function_section = {"function", NULL, function_columns,
						    CTX_COUNT_OF(function_columns)};
static const struct ctx_section edge_section = {"edge", "From instruction to instruction", edge_columns,
						CTX_COUNT_OF(edge_columns)};
static const struct ctx_section loop_section = {"loop", "Loops", loop_columns, CTX_COUNT_OF(loop_columns)};
static const struct ctx_section block_section = {"block", "Blocks that ran without a taken branch",
						 block_columns, CTX_COUNT_OF(block_columns)};

static const char *const sort_keys[] = {"count", "mispredicted", "cycles", NULL};

static uint64_t value(const struct ctx_traced_sums *sums, size_t key)
{
	(void)key;
	return sums->count;
}

static void fill(const struct ctx_traced_sums *sums, struct ctx_cell *cells)
{
	cells[COUNT] = ctx_cell_number(sums->count);
}

static const struct ctx_traced_report branch_report = {.report = &ctx_report_branches,
						       .kind = CTX_TRACED_BRANCH,
						       .topic = "Branch entries",
						       .unit = CTX_UNIT_EVENTS,
						       .counted = "branches",
						       .stack = FUNCTION,
						       .text = TO_PLACE,
						       .number_width = 60,
						       .sort_keys = sort_keys,
						       .value = value,
						       .fill = fill};

/* Functions at both ends of edges. */
struct pair {
	uint32_t from, to; /* a location with each */
	struct ctx_branch_sum sum;
};

struct branches {
	struct ctx_traced_page page;
	struct ctx_code_view view;
	struct ctx_branch_sums sums;
	struct pair *pairs; /* owned */
	size_t n_pairs, pairs_cap;
};

/* ---- cells ---- */

static struct ctx_cell percent(struct ctx_traced_page *page, uint64_t part, uint64_t whole)
{
	return whole != 0 ? ctx_cell_figure(ctx_traced_text(page, "%.2f", 100 * (double)part / (double)whole))
			  : ctx_cell_name(NULL);
}

static void put_sum(struct branches *branches, const struct ctx_branch_sum *sum, struct ctx_cell *cells)
{
	struct ctx_traced_page *page = &branches->page;

	cells[COUNT] = ctx_cell_number(sum->taken);
	cells[SHARE] = percent(page, sum->taken, branches->sums.total.taken);
	cells[KNOWN] = ctx_cell_number(sum->known);
	cells[MISPREDICTED] = ctx_cell_number(sum->mispredicted);
	cells[MISPREDICTED_SHARE] = percent(page, sum->mispredicted, sum->known);
	cells[TIMED] = ctx_cell_number(sum->timed);
	cells[CYCLES] = ctx_cell_number(sum->cycles);
	if (sum->timed == 0)
		return;
	cells[LEAST] = ctx_cell_number(sum->least);
	cells[MOST] = ctx_cell_number(sum->most);
	cells[AVERAGE] =
		ctx_cell_figure(ctx_traced_text(page, "%.1f", (double)sum->cycles / (double)sum->timed));
}

static const char *function_name(const struct branches *branches, uint32_t location)
{
	const struct ctx_profile *profile = branches->page.profile;
	uint32_t function =
		location != CTX_NONE ? ctx_code_real_function(branches->view.code, location) : CTX_NONE;

	return function < profile->n_functions ? profile->functions[function].name : NULL;
}

static const char *object_name(const struct branches *branches, uint32_t location)
{
	const struct ctx_profile *profile = branches->page.profile;
	uint32_t object = location != CTX_NONE ? branches->view.code->locations[location].object : CTX_NONE;

	return object < profile->n_objects ? profile->objects[object].path : NULL;
}

/* The innermost place in the source of a location; NULL: its file or line is not known. */
static const struct ctx_site *line_of(const struct ctx_code *code, uint32_t location)
{
	uint32_t number = code->locations[location].site;
	const struct ctx_site *site = number < code->n_sites ? &code->sites[number] : NULL;

	return site != NULL && site->file < code->n_files && site->line != 0 ? site : NULL;
}

/* "walk+0x1a (walk.c:12)", "0x7f12 [libc.so.6]" */
static const char *place_text(struct branches *branches, uint32_t location)
{
	const struct ctx_code *code = branches->view.code;
	const struct ctx_site *site;
	struct ctx_code_place place;
	const char *name = function_name(branches, location), *line = "";

	if (location == CTX_NONE)
		return "<Unknown>";
	place = ctx_code_place_of(&branches->view, location);
	site = line_of(code, location);
	if (site != NULL)
		line = ctx_traced_text(&branches->page, " (%s:%" PRIu32 ")",
				       ctx_path_base(code->files[site->file].path), site->line);
	if (place.has_offset)
		return ctx_traced_text(&branches->page, "%s+0x%" PRIx64 "%s", name, place.offset, line);
	return ctx_traced_text(&branches->page, "%s 0x%" PRIx64 "%s", name != NULL ? name : "",
			       code->locations[location].address, line);
}

/* The cells of a place, beginning with its function. */
static void put_place(struct branches *branches, uint32_t location, struct ctx_cell *cells)
{
	const struct ctx_code *code = branches->view.code;
	const struct ctx_site *site;
	struct ctx_code_place place;

	cells[0] = ctx_cell_name(function_name(branches, location));
	cells[OBJECT - FUNCTION] = ctx_cell_name(object_name(branches, location));
	if (location == CTX_NONE)
		return;
	place = ctx_code_place_of(&branches->view, location);
	if (place.has_offset)
		cells[OFFSET - FUNCTION] = ctx_cell_number(place.offset);
	cells[ADDRESS - FUNCTION] = ctx_cell_number(code->locations[location].address);
	site = line_of(code, location);
	if (site == NULL)
		return;
	cells[FILE_NAME - FUNCTION] = ctx_cell_name(code->files[site->file].path);
	cells[LINE - FUNCTION] = ctx_cell_number(site->line);
}

static void put_row(struct branches *branches, struct ctx_cell *cells)
{
	ctx_sections_row_begin(&branches->page.sections, cells, NULL);
	ctx_sections_row_end(&branches->page.sections);
}

/* ---- tables ---- */

static bool order_by(const struct branches *branches, const struct ctx_branch_sum *sum,
		     struct ctx_order_item *item)
{
	const uint64_t values[] = {sum->taken, sum->mispredicted, sum->cycles};

	item->number = values[branches->page.key];
	item->second = sum->taken;
	return true;
}

static bool order_pair(const void *context, size_t i, struct ctx_order_item *item)
{
	const struct branches *branches = context;

	return order_by(branches, &branches->pairs[i].sum, item);
}

static void put_pair(void *context, size_t i)
{
	struct branches *branches = context;
	const struct pair *pair = &branches->pairs[i];
	struct ctx_cell cells[CTX_TRACED_COLUMNS];
	const char *from = function_name(branches, pair->from), *to = function_name(branches, pair->to);

	ctx_sections_clear(&branches->page.sections, cells);
	put_sum(branches, &pair->sum, cells);
	cells[FUNCTION] = ctx_cell_name(from);
	cells[OBJECT] = ctx_cell_name(object_name(branches, pair->from));
	cells[TO_FUNCTION] = ctx_cell_name(to);
	cells[TO_OBJECT] = ctx_cell_name(object_name(branches, pair->to));
	cells[PLACE] = ctx_cell_name(from != NULL ? from : "<Unknown>");
	cells[TO_PLACE] = ctx_cell_name(to != NULL ? to : "<Unknown>");
	put_row(branches, cells);
}

static bool order_edge(const void *context, size_t i, struct ctx_order_item *item)
{
	const struct branches *branches = context;

	return order_by(branches, &branches->sums.edges[i].sum, item);
}

static void put_edge(void *context, size_t i)
{
	struct branches *branches = context;
	const struct ctx_branch_edge *edge = &branches->sums.edges[i];
	struct ctx_cell cells[CTX_TRACED_COLUMNS];
	uint64_t passed = edge->from != CTX_NONE ? ctx_branch_sums_passed(&branches->sums, edge->from) : 0;

	ctx_sections_clear(&branches->page.sections, cells);
	put_sum(branches, &edge->sum, cells);
	put_place(branches, edge->from, &cells[FUNCTION]);
	put_place(branches, edge->to, &cells[TO_FUNCTION]);
	cells[PASSED] = ctx_cell_number(passed);
	cells[TAKEN_SHARE] = percent(&branches->page, edge->sum.taken, edge->sum.taken + passed);
	cells[KIND] = ctx_cell_name(edge->kind != CTX_BRANCH_UNKNOWN
					    ? ctx_traced_operation_name(CTX_TRACED_BRANCH, edge->kind)
					    : NULL);
	cells[PLACE] = ctx_cell_name(place_text(branches, edge->from));
	cells[TO_PLACE] = ctx_cell_name(place_text(branches, edge->to));
	put_row(branches, cells);
}

static bool order_loop(const void *context, size_t i, struct ctx_order_item *item)
{
	const struct branches *branches = context;

	return order_by(branches, &branches->sums.loops[i].sum, item);
}

static void put_loop(void *context, size_t i)
{
	struct branches *branches = context;
	const struct ctx_branch_loop *loop = &branches->sums.loops[i];
	struct ctx_cell cells[CTX_TRACED_COLUMNS];

	ctx_sections_clear(&branches->page.sections, cells);
	put_sum(branches, &loop->sum, cells);
	put_place(branches, loop->head, &cells[FUNCTION]);
	cells[ENTRIES] = ctx_cell_number(loop->entries);
	if (loop->entries != 0)
		cells[ITERATIONS] = ctx_cell_figure(
			ctx_traced_text(&branches->page, "%.1f",
					(double)(loop->back + loop->entries) / (double)loop->entries));
	cells[TO_PLACE] = ctx_cell_name(place_text(branches, loop->head));
	put_row(branches, cells);
}

static bool order_block(const void *context, size_t i, struct ctx_order_item *item)
{
	const struct branches *branches = context;

	return order_by(branches, &branches->sums.blocks[i].sum, item);
}

static void put_block(void *context, size_t i)
{
	struct branches *branches = context;
	const struct ctx_branch_block *block = &branches->sums.blocks[i];
	struct ctx_cell cells[CTX_TRACED_COLUMNS];

	ctx_sections_clear(&branches->page.sections, cells);
	put_sum(branches, &block->sum, cells);
	put_place(branches, block->end, &cells[FUNCTION]);
	cells[BYTES] = ctx_cell_number(branches->view.code->locations[block->end].address - block->begin);
	cells[TO_PLACE] = ctx_cell_name(place_text(branches, block->end));
	put_row(branches, cells);
}

/* ---- all ---- */

/* The function of a location; without one, its object. */
static uint32_t owner_of(const struct branches *branches, uint32_t location)
{
	return location != CTX_NONE ? ctx_code_real_function(branches->view.code, location) : CTX_NONE;
}

static enum ctx_status pair_up(struct branches *branches, struct ctx_err *err)
{
	struct ctx_map64 of_functions CTX_CLEANUP(ctx_map64_deinit) = {0};

	for (size_t i = 0; i < branches->sums.n_edges; i++) {
		const struct ctx_branch_edge *edge = &branches->sums.edges[i];
		uint32_t *place =
			ctx_map64_place(&of_functions, (uint64_t)owner_of(branches, edge->from) << 32 |
							       owner_of(branches, edge->to));

		if (place == NULL ||
		    ctx_grow(&branches->pairs, &branches->pairs_cap, branches->n_pairs + 1, NULL) != CTX_OK)
			return ctx_err_nomem(err);
		if (*place == CTX_MAP64_NONE) {
			*place = (uint32_t)branches->n_pairs;
			branches->pairs[branches->n_pairs++] = (struct pair){edge->from, edge->to, {0}};
		}
		ctx_branch_sum_join(&branches->pairs[*place].sum, &edge->sum);
	}
	return CTX_OK;
}

static enum ctx_status collect(struct branches *branches, struct ctx_err *err)
{
	struct ctx_report_traced traced = branches->page.traced;
	enum ctx_status status = CTX_OK;

	branches->sums.code = branches->view.code;
	branches->sums.profile = branches->page.profile;
	for (size_t i = 0; i < traced.n && status == CTX_OK; i++) {
		if (ctx_traced_passes(&branches->page, &traced.items[i]))
			status = ctx_branch_sums_add(&branches->sums, &traced.items[i], err);
	}
	if (status == CTX_OK)
		status = ctx_branch_sums_finish(&branches->sums, err);
	return status == CTX_OK ? pair_up(branches, err) : status;
}

static void put_tables(struct branches *branches)
{
	const struct ctx_traced_rows tables[] = {
		{"pair", &function_section, branches->n_pairs, order_pair, put_pair, branches},
		{"loop", &loop_section, branches->sums.n_loops, order_loop, put_loop, branches},
		{"edge", &edge_section, branches->sums.n_edges, order_edge, put_edge, branches},
		{"block", &block_section, branches->sums.n_blocks, order_block, put_block, branches},
	};

	branches->page.total.count = branches->sums.total.taken;
	branches->page.topic.totals.weight = branches->sums.total.taken;
	ctx_traced_page_begin(&branches->page);
	for (size_t i = 0; i < CTX_COUNT_OF(tables); i++)
		ctx_traced_put_rows(&branches->page, &tables[i]);
}

static enum ctx_status pull_code(struct branches *branches, struct ctx_report_source *source,
				 struct ctx_err *err)
{
	static const struct ctx_histogram none;
	struct ctx_report_code code;
	enum ctx_status status = source->code(source, &code, err);

	if (status != CTX_OK)
		return status;
	branches->view = (struct ctx_code_view){
		.profile = branches->page.profile, .code = code.code, .raw = &none, .reader = code.reader};
	return ctx_code_check(&branches->view, err);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct branches *branches CTX_AUTO_FREE = ctx_calloc(1, sizeof(*branches));
	enum ctx_status status;

	if (branches == NULL)
		return ctx_err_nomem(err);
	status = ctx_traced_page_init(&branches->page, &branch_report, source, options, err);
	if (status == CTX_OK)
		status = pull_code(branches, source, err);
	if (status == CTX_OK)
		status = collect(branches, err);
	if (status == CTX_OK) {
		put_tables(branches);
		status = ctx_traced_page_end(&branches->page, err);
	}
	ctx_branch_sums_deinit(&branches->sums);
	free(branches->pairs);
	ctx_traced_page_deinit(&branches->page);
	return status;
}

static const struct ctx_report_alias aliases[] = {{"brstack", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_branches = {
	.name = "branches",
	.metrics = CTX_REPORT_NO_METRIC,
	.traced = 1u << CTX_TRACED_BRANCH,
	.aliases = aliases,
	.columns = columns,
	.n_columns = N_COLUMNS,
	.print = print,
};
