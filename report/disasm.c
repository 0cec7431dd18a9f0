/*
 * Annotated disassembly: the instructions of a function with their weights, below the source lines
 * that they come from. In callers, the weight is attributed to the call instruction.
 */
#include "base/bisect.h"
#include "base/mem.h"
#include "report/code_parts.h"
#include "report/code_places.h"
#include "report/disasm_subject.h"
#include "report/head.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/source_texts.h"
#include "report/subject.h"

#include <inttypes.h>
#include <string.h>

#define CONTEXT 15u /* instructions shown around one with weight, where long runs are left out */
#define MNEMONIC 7  /* columns */

static const struct ctx_column columns[] = {
	{NULL, "", CTX_STYLE_NAME},
	{NULL, "Self", CTX_STYLE_WEIGHT},
	{NULL, "Total", CTX_STYLE_WEIGHT},
	{NULL, "Address", CTX_STYLE_NAME},
	{NULL, "", CTX_STYLE_NAME},
	{NULL, "Instruction", CTX_STYLE_SOURCE},
	{"function", NULL, CTX_STYLE_NAME},
	{"object", NULL, CTX_STYLE_NAME},
	{"part", NULL, CTX_STYLE_NAME},
	{"address", NULL, CTX_STYLE_COUNT},
	{"offset", NULL, CTX_STYLE_COUNT},
	{"instruction", NULL, CTX_STYLE_NAME},
	{"target", NULL, CTX_STYLE_COUNT},
	{"target_name", NULL, CTX_STYLE_NAME},
	{"file", NULL, CTX_STYLE_NAME},
	{"line", NULL, CTX_STYLE_COUNT},
	{"exclusive", NULL, CTX_STYLE_WEIGHT},
	{"inclusive", NULL, CTX_STYLE_WEIGHT},
	{"exclusive_samples", NULL, CTX_STYLE_COUNT},
	{"inclusive_samples", NULL, CTX_STYLE_COUNT},
	{"hot", NULL, CTX_STYLE_COUNT},
};

struct page {
	struct ctx_out *out;
	struct ctx_source_texts *texts;
	uint32_t function;
	const struct ctx_code_parts *parts;
	const struct ctx_code_part *part; /* NULL: addresses without bytes */
	uint32_t *neighbours;		  /* owned; functions of the same object, by address */
	uint32_t n_neighbours;
	struct ctx_line_row shown; /* the source line that was printed last */
	struct ctx_buf text;
};

/* What a row is about. */
struct line {
	uint64_t address;
	const struct ctx_instruction *instruction; /* NULL: not known */
	const struct ctx_code_sum *sum;
	struct ctx_line_row source;
};

static const char *take_text(struct page *page)
{
	ctx_buf_put_u8(&page->text, '\0');
	if (page->text.failed) {
		ctx_out_fail(page->out, CTX_E_NOMEM);
		return "";
	}
	return ctx_out_format(page->out, "%s", (const char *)page->text.bytes);
}

static bool has_weight(const struct ctx_code_sum *sum)
{
	return sum->inclusive != 0 || sum->inclusive_samples != 0;
}

static bool begins_up_to(const void *items, size_t i, uint64_t address)
{
	const struct page *page = items;

	return page->out->profile->functions[page->neighbours[i]].offset <= address;
}

/* The last function that begins at or before an address; CTX_NONE: none can contain it. */
static uint32_t find_neighbour(const struct page *page, uint64_t address)
{
	const struct ctx_function_info *functions = page->out->profile->functions;
	size_t n = ctx_bisect(page, page->n_neighbours, begins_up_to, address);
	uint32_t low;

	if (n == 0)
		return CTX_NONE;
	low = page->neighbours[n - 1];
	/* A function of unknown size matches at its first address only. */
	if (functions[low].size == 0 ? functions[low].offset != address
				     : address - functions[low].offset >= functions[low].size)
		return CTX_NONE;
	return low;
}

/* "walk+0x6", "read"; for another part of the function "walk+0x2 in walk.cold". NULL: unknown. */
static const char *target_name(const struct page *page, uint64_t target)
{
	struct ctx_out *out = page->out;
	const struct ctx_profile *profile = out->profile;
	uint32_t function = find_neighbour(page, target);
	const char *part;

	for (size_t i = 0; i < page->parts->n; i++) {
		const struct ctx_function_code *code = &page->parts->parts[i].code;

		part = ctx_code_part_name(profile, page->function, code->address);
		if (target < code->address || target - code->address >= code->n_bytes || part == NULL)
			continue;
		return ctx_out_format(out, "%s+0x%" PRIx64 " in %s", profile->functions[page->function].name,
				      target - code->address, strchr(part, ' ') != NULL ? "a part" : part);
	}
	if (function == CTX_NONE)
		return NULL;
	if (target == profile->functions[function].offset && function != page->function)
		return profile->functions[function].name;
	return ctx_out_format(out, "%s+0x%" PRIx64, profile->functions[function].name,
			      target - profile->functions[function].offset);
}

static bool is_here(const struct page *page, uint64_t target)
{
	const struct ctx_function_code *code = &page->part->code;

	return target >= code->address && target - code->address < code->n_bytes;
}

/* For text: "jne     0x1136 <+0x6>". */
static const char *instruction_text(struct page *page, const struct ctx_instruction *instruction,
				    const char *name)
{
	bool text = ctx_out_is_text(page->out);

	ctx_buf_clear(&page->text);
	if (text)
		ctx_buf_put_text(&page->text, "    ");
	ctx_instruction_put(page->part->disassembler, &page->part->code, instruction, text ? MNEMONIC : 0,
			    &page->text);
	if (text && instruction->has_target && is_here(page, instruction->target))
		ctx_buf_printf(&page->text, " <+0x%" PRIx64 ">",
			       instruction->target - page->part->code.address);
	else if (text && name != NULL)
		ctx_buf_printf(&page->text, " <%s>", name);
	return take_text(page);
}

static const char *file_path(const struct page *page, uint32_t file)
{
	const struct ctx_code *code = page->texts->view->code;

	return file < code->n_files ? code->files[file].path : NULL;
}

/* Offsets are from the part's first byte; if that is unknown, from the function's. */
static struct ctx_cell offset_cell(const struct page *page, uint64_t address)
{
	const struct ctx_function_info *function = &page->out->profile->functions[page->function];

	if (page->part != NULL)
		return ctx_cell_number(address - page->part->code.address);
	if (function->kind == CTX_FUNCTION_ORDINARY && ctx_code_is_inside(function, address))
		return ctx_cell_number(address - function->offset);
	return ctx_cell_name(NULL);
}

static void put_instruction(struct page *page, const struct line *line)
{
	struct ctx_out *out = page->out;
	const struct ctx_profile *profile = out->profile;
	const struct ctx_instruction *instruction = line->instruction;
	const struct ctx_code_sum *sum = line->sum;
	struct ctx_cell empty = ctx_cell_name(NULL);
	struct ctx_cell function = ctx_function_cell(profile, page->function);
	bool targeted = instruction != NULL && instruction->has_target, weighs = has_weight(sum);
	bool hot = ctx_code_is_hot(sum->exclusive, page->parts->largest_exclusive) ||
		   ctx_code_is_hot(sum->inclusive, page->parts->largest_inclusive);
	const char *name = targeted ? target_name(page, instruction->target) : NULL;
	const char *text = instruction != NULL ? instruction_text(page, instruction, name) : NULL;

	ctx_out_row(out,
		    (struct ctx_cell[]){
			    ctx_cell_name(hot ? "##" : NULL),
			    weighs ? ctx_cell_number(sum->exclusive) : empty,
			    weighs ? ctx_cell_number(sum->inclusive) : empty,
			    ctx_cell_name(ctx_out_format(out, "%7" PRIx64, line->address)),
			    ctx_cell_name(instruction != NULL && instruction->is_target ? "->" : NULL),
			    ctx_cell_name(text),
			    ctx_cell_name(function.name),
			    ctx_cell_name(function.object),
			    ctx_cell_name(ctx_code_part_name(profile, page->function, line->address)),
			    ctx_cell_number(line->address),
			    offset_cell(page, line->address),
			    ctx_cell_name(text),
			    targeted ? ctx_cell_number(instruction->target) : empty,
			    ctx_cell_name(name),
			    ctx_cell_name(line->source.line != 0 ? file_path(page, line->source.file) : NULL),
			    line->source.line != 0 ? ctx_cell_number(line->source.line) : empty,
			    ctx_cell_number(sum->exclusive),
			    ctx_cell_number(sum->inclusive),
			    ctx_cell_number(sum->exclusive_samples),
			    ctx_cell_number(sum->inclusive_samples),
			    ctx_cell_bool(hot),
		    });
}

/* Text: a row that is not an instruction. */
static void put_remark(struct page *page, const char *text)
{
	struct ctx_cell cells[CTX_COUNT_OF(columns)] = {0};

	if (!ctx_out_is_text(page->out))
		return;
	cells[5] = ctx_cell_name(text);
	ctx_out_row(page->out, cells);
}

/* "walk.c:12  while (n--)" where the line changes. */
static void put_source(struct page *page, const struct ctx_line_row *source)
{
	const char *path = file_path(page, source->file), *slash, *text;

	if (!ctx_out_is_text(page->out) ||
	    (source->file == page->shown.file && source->line == page->shown.line))
		return;
	page->shown = *source;
	if (path == NULL || source->line == 0) {
		put_remark(page, CTX_NO_LINE);
		return;
	}
	slash = strrchr(path, '/');
	text = ctx_source_texts_line(page->texts, page->out, source->file, source->line);
	text = text != NULL ? text + strspn(text, " ") : "";
	put_remark(page, ctx_out_format(page->out, "%s:%" PRIu32 "  %s", slash != NULL ? slash + 1 : path,
					source->line, text));
}

static void put_gap(struct page *page, size_t n)
{
	if (n == 0)
		return;
	put_remark(page, ctx_out_format(page->out, "... (%zu instructions without samples)", n));
	page->shown = (struct ctx_line_row){.file = CTX_NONE, .line = UINT32_MAX};
}

static void put_title(struct page *page)
{
	struct ctx_out *out = page->out;
	const struct ctx_profile *profile = out->profile;
	const char *title = ctx_function_title(out, page->function), *part;

	page->shown = (struct ctx_line_row){.file = CTX_NONE, .line = UINT32_MAX};
	if (page->part == NULL) {
		ctx_out_section(out, ctx_out_format(out, "%s: addresses without instructions", title));
		return;
	}
	part = ctx_code_part_name(profile, page->function, page->part->code.address);
	ctx_out_section(out, ctx_out_format(out, "%s%s%s: %" PRIx64 "-%" PRIx64, title,
					    part != NULL ? ", part " : "", part != NULL ? part : "",
					    page->part->code.address,
					    page->part->code.address + page->part->code.n_bytes));
}

static void choose_shown(const struct page *page, bool *weights, bool *shown)
{
	size_t n = page->part->instructions.n, found = 0;

	for (size_t i = 0; i < n; i++) {
		weights[i] = has_weight(&page->parts->sums[page->part->first_slot + i]);
		found += weights[i];
	}
	if (found == 0 || page->out->options->whole || !ctx_out_is_text(page->out))
		memset(shown, 1, n * sizeof(*shown));
	else
		ctx_code_mark_shown(weights, n, CONTEXT, shown);
}

static void put_part(struct page *page)
{
	const struct ctx_code_part *part = page->part;
	size_t n = part->instructions.n, gap = 0, row = 0;
	bool *weights CTX_AUTO_FREE = ctx_calloc(n + 1, sizeof(*weights));
	bool *shown CTX_AUTO_FREE = ctx_calloc(n + 1, sizeof(*shown));

	if (weights == NULL || shown == NULL) {
		ctx_out_fail(page->out, CTX_E_NOMEM);
		return;
	}
	choose_shown(page, weights, shown);
	put_title(page);
	for (size_t i = 0; i < n; i++) {
		const struct ctx_instruction *instruction = &part->instructions.list[i];
		struct line line = {.address = instruction->address,
				    .instruction = instruction,
				    .sum = &page->parts->sums[part->first_slot + i]};

		while (row < part->code.n_lines && part->code.lines[row].address <= line.address)
			row++;
		if (row != 0)
			line.source = part->code.lines[row - 1];
		if (!shown[i]) {
			gap++;
			continue;
		}
		put_gap(page, gap);
		gap = 0;
		if (part->code.n_lines != 0)
			put_source(page, &line.source);
		put_instruction(page, &line);
	}
	put_gap(page, gap);
	ctx_out_section(page->out, NULL);
}

static void put_strays(struct page *page)
{
	const struct ctx_code *code = page->texts->view->code;
	bool titled = false;

	page->part = NULL;
	for (size_t i = 0; i < page->parts->n_strays; i++) {
		const struct ctx_location *location = &code->locations[page->parts->strays[i]];
		struct line line = {.address = location->address,
				    .sum = &page->parts->sums[page->parts->first_stray + i],
				    .source = {.file = CTX_NONE}};

		if (!has_weight(line.sum))
			continue;
		if (!titled)
			put_title(page);
		titled = true;
		if (location->site != CTX_NONE)
			line.source = (struct ctx_line_row){.file = code->sites[location->site].file,
							    .line = code->sites[location->site].line};
		put_source(page, &line.source);
		put_instruction(page, &line);
	}
	ctx_out_section(page->out, NULL);
	if (page->parts->n == 0)
		ctx_out_line(page->out,
			     "(the instructions of this function are not known: addresses of samples only)");
}

static int compare_offsets(const void *left, const void *right, void *context)
{
	const struct ctx_profile *profile = *(const struct ctx_profile *const *)context;
	uint32_t i = *(const uint32_t *)left, j = *(const uint32_t *)right;
	uint64_t a = profile->functions[i].offset, b = profile->functions[j].offset;

	if (a != b)
		return a < b ? -1 : 1;
	return i < j ? -1 : i > j;
}

static enum ctx_status find_neighbours(struct page *page, struct ctx_err *err)
{
	const struct ctx_profile *profile = page->out->profile;

	page->neighbours = ctx_calloc((size_t)profile->n_functions + 1, sizeof(*page->neighbours));
	if (page->neighbours == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < profile->n_functions; i++) {
		const struct ctx_function_info *function = &profile->functions[i];

		if (function->object == profile->functions[page->function].object && !function->inlined &&
		    function->kind == CTX_FUNCTION_ORDINARY)
			page->neighbours[page->n_neighbours++] = i;
	}
	qsort_r(page->neighbours, page->n_neighbours, sizeof(*page->neighbours), compare_offsets, &profile);
	return CTX_OK;
}

static enum ctx_status put_function(struct ctx_out *out, struct ctx_source_texts *texts, uint32_t function,
				    struct ctx_err *err)
{
	struct ctx_code_parts parts;
	struct page page = {.out = out, .texts = texts, .function = function, .parts = &parts};
	enum ctx_status status = ctx_code_parts_build(texts->view, function, &parts, err);

	if (status != CTX_OK)
		return status;
	status = find_neighbours(&page, err);
	for (size_t i = 0; status == CTX_OK && i < parts.n; i++) {
		page.part = &parts.parts[i];
		put_part(&page);
	}
	if (status == CTX_OK)
		put_strays(&page);
	free(page.neighbours);
	ctx_buf_deinit(&page.text);
	ctx_code_parts_deinit(&parts);
	return status;
}

static enum ctx_status print_subject(const struct ctx_code_view *view, const struct ctx_out_spec *spec,
				     const struct ctx_subject *subject, struct ctx_err *err)
{
	uint32_t limit = spec->options->limit, shown = 0;
	struct ctx_source_texts texts;
	struct ctx_out out;
	enum ctx_status status = ctx_source_texts_init(&texts, view, err);

	if (status != CTX_OK)
		return status;
	ctx_code_begin(&out, *spec, view);
	if (subject->n == 0)
		ctx_out_line(&out, "(no function in this selection has instructions)");
	for (uint32_t i = 0; i < subject->n && status == CTX_OK; i++) {
		if (view->profile->functions[subject->owners[i]].inlined || (limit != 0 && shown++ >= limit))
			continue;
		status = put_function(&out, &texts, subject->owners[i], err);
		ctx_out_fail(&out, status);
	}
	ctx_out_rows_end(&out);
	ctx_source_texts_deinit(&texts);
	return ctx_out_end(&out, err);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	const struct ctx_out_spec spec = {
		.kind = &ctx_report_disasm, .selection = &source->selection, .options = options};
	struct ctx_subject subject = {0};
	struct ctx_code_view view;
	enum ctx_status status = ctx_code_view_pull(source, NULL, &view, err);

	if (status == CTX_OK)
		status = ctx_disasm_subject(&view,
					    options->subject != NULL ? options->subject : options->function,
					    &subject, err);
	if (status == CTX_OK)
		status = print_subject(&view, &spec, &subject, err);
	ctx_subject_deinit(&subject);
	return status;
}

static const struct ctx_report_alias aliases[] = {{"dis", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_disasm = {
	.name = "disasm",
	.takes_subject = true,
	.order = ": it is in the order of addresses",
	.sort_exclusive = "exclusive",
	.sort_inclusive = "inclusive",
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
