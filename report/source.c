/*
 * Annotated source: the lines of a function or a file, with the weight of each beside it.
 */
#include "base/mem.h"
#include "report/head.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"
#include "report/source_sections.h"
#include "report/source_texts.h"

#include <string.h>

#define FILE_CONTEXT 5u /* lines shown around one with weight, where long runs of a file are left out */

static const struct ctx_column columns[] = {
	{NULL, "", CTX_STYLE_NAME},
	{NULL, "Self", CTX_STYLE_WEIGHT},
	{NULL, "Total", CTX_STYLE_WEIGHT},
	{NULL, "Line", CTX_STYLE_COUNT},
	{NULL, "Source", CTX_STYLE_SOURCE},
	{"function", NULL, CTX_STYLE_NAME},
	{"object", NULL, CTX_STYLE_NAME},
	{"file", NULL, CTX_STYLE_NAME},
	{"line", NULL, CTX_STYLE_COUNT},
	{"text", NULL, CTX_STYLE_NAME},
	{"exclusive", NULL, CTX_STYLE_WEIGHT},
	{"inclusive", NULL, CTX_STYLE_WEIGHT},
	{"exclusive_samples", NULL, CTX_STYLE_COUNT},
	{"inclusive_samples", NULL, CTX_STYLE_COUNT},
	{"hot", NULL, CTX_STYLE_COUNT},
};

struct page {
	struct ctx_out *out;
	const struct ctx_subject *subject;
	struct ctx_source_texts *texts;
	const struct ctx_source_section *section;
};

static bool is_hot(const struct ctx_source_section *section, const struct ctx_code_sum *sum)
{
	return ctx_code_is_hot(sum->exclusive, section->largest_exclusive) ||
	       ctx_code_is_hot(sum->inclusive, section->largest_inclusive);
}

/* `row` NULL, or without weight: only the line. `line` 0: a text that is not a source line. */
static void put_line(const struct page *page, uint32_t line, const char *text,
		     const struct ctx_line_total *row)
{
	const struct ctx_code_view *view = page->texts->view;
	const struct ctx_source_section *section = page->section;
	const struct ctx_code_sum none = {0};
	const struct ctx_code_sum *sum = ctx_line_has_weight(row) ? &row->sum : &none;
	struct ctx_cell empty = ctx_cell_name(NULL), function = empty;
	bool weighs = ctx_line_has_weight(row), hot = weighs && is_hot(section, sum);
	struct ctx_cell number = line != 0 ? ctx_cell_number(line) : empty;

	if (!page->subject->is_file)
		function = ctx_function_cell(view->profile, page->subject->owners[section->owner]);
	ctx_out_row(page->out,
		    (struct ctx_cell[]){
			    ctx_cell_name(hot ? "##" : NULL),
			    weighs ? ctx_cell_number(sum->exclusive) : empty,
			    weighs ? ctx_cell_number(sum->inclusive) : empty,
			    number,
			    ctx_cell_name(text),
			    ctx_cell_name(function.name),
			    ctx_cell_name(function.object),
			    ctx_cell_name(section->file != CTX_NONE ? view->code->files[section->file].path
								    : NULL),
			    number,
			    ctx_cell_name(text),
			    ctx_cell_number(sum->exclusive),
			    ctx_cell_number(sum->inclusive),
			    ctx_cell_number(sum->exclusive_samples),
			    ctx_cell_number(sum->inclusive_samples),
			    ctx_cell_bool(hot),
		    });
}

static void put_gap(const struct page *page, size_t n)
{
	put_line(page, 0, ctx_out_format(page->out, "... (%zu lines without samples)", n), NULL);
}

/* Text leaves out long runs without samples; JSON and CSV have all lines. */
static enum ctx_status choose_shown(const struct page *page, uint32_t first, size_t n, bool *shown)
{
	bool is_file = page->subject->is_file;
	bool *weights CTX_AUTO_FREE = ctx_calloc(n, sizeof(*weights));

	if (weights == NULL)
		return CTX_E_NOMEM;
	if (!ctx_out_is_text(page->out) || page->out->options->whole ||
	    (ctx_source_section_mark(page->section, first, n, weights) == 0 && !is_file))
		memset(shown, 1, n * sizeof(*shown));
	else
		ctx_code_mark_shown(weights, n, is_file ? FILE_CONTEXT : CTX_SOURCE_CONTEXT, shown);
	return CTX_OK;
}

/* Lines first to last, all of which have text. */
static void put_text(const struct page *page, uint32_t first, uint32_t last)
{
	const struct ctx_source_section *section = page->section;
	size_t n = (size_t)last - first + 1, gap = 0, row = 0;
	bool *shown CTX_AUTO_FREE = ctx_calloc(n, sizeof(*shown));

	if (shown == NULL || choose_shown(page, first, n, shown) != CTX_OK) {
		ctx_out_fail(page->out, CTX_E_NOMEM);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		uint32_t line = first + (uint32_t)i;

		while (row < section->n_rows && section->rows[row].key.line < line)
			row++;
		gap += !shown[i];
		if (gap != 0 && (shown[i] || i + 1 == n)) {
			put_gap(page, gap);
			gap = 0;
		}
		if (shown[i])
			put_line(page, line,
				 ctx_source_texts_line(page->texts, page->out, section->file, line),
				 row < section->n_rows && section->rows[row].key.line == line
					 ? &section->rows[row]
					 : NULL);
	}
}

static void put_title(const struct page *page)
{
	const struct ctx_code_view *view = page->texts->view;
	const struct ctx_source_section *section = page->section;
	const char *path =
		section->file != CTX_NONE ? view->code->files[section->file].path : "no line numbers";

	if (page->subject->is_file) {
		ctx_out_section(page->out, path);
		return;
	}
	ctx_out_section(page->out,
			ctx_out_format(page->out, "%s: %s",
				       ctx_function_title(page->out, page->subject->owners[section->owner]),
				       path));
}

static void put_section(const struct page *page)
{
	const struct ctx_source_section *section = page->section;
	uint32_t n_lines = ctx_source_texts_lines(page->texts, page->out, section->file);
	uint32_t first = 1, last = n_lines;

	put_title(page);
	if (section->n_rows != 0 && !page->subject->is_file) {
		const struct ctx_line_range range =
			ctx_source_section_view(page->texts->view, page->subject, section, n_lines);

		first = range.first;
		last = range.last;
	} else if (section->file == CTX_NONE) {
		last = 0;
	}
	if (n_lines == 0 && section->file != CTX_NONE)
		ctx_out_line(page->out, "(its text is neither in the recording nor at that path: only lines "
					"with samples)");
	if (section->no_line != NULL && ctx_line_has_weight(section->no_line))
		put_line(page, 0, CTX_NO_LINE, section->no_line);
	if (last != 0 && first <= last)
		put_text(page, first, last);
	/* Lines that the text lacks: there is no text, or it is another version of the file. */
	for (size_t i = 0; i < section->n_rows; i++) {
		if (section->rows[i].key.line > n_lines && ctx_line_has_weight(&section->rows[i]))
			put_line(page, section->rows[i].key.line, NULL, &section->rows[i]);
	}
	if (!ctx_line_has_weight(section->no_line) && section->inclusive == 0 &&
	    section->n_rows + n_lines == 0)
		ctx_out_line(page->out, "(no samples)");
	ctx_out_section(page->out, NULL);
}

static bool key_of_lined_function(const void *context, uint32_t function, uint32_t file, uint32_t line,
				  struct ctx_line_key *ret)
{
	(void)context;
	*ret = (struct ctx_line_key){.owner = function, .file = CTX_NONE};
	return file != CTX_NONE && line != 0;
}

static bool key_of_function_and_file(const void *context, uint32_t function, uint32_t file, uint32_t line,
				     struct ctx_line_key *ret)
{
	(void)context;
	*ret = (struct ctx_line_key){.owner = function, .file = file};
	return file != CTX_NONE && line != 0;
}

/* Whether a function has samples in a file with text; `files` are by function and file. */
static enum ctx_status has_text(struct ctx_source_texts *texts, const struct ctx_line_rows *files,
				uint32_t function, bool *ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	size_t low = 0, high = files->n;

	while (low < high) {
		size_t middle = (low + high) / 2;

		if (files->rows[middle].key.owner < function)
			low = middle + 1;
		else
			high = middle;
	}
	for (*ret = false; status == CTX_OK && !*ret && low < files->n; low++) {
		uint32_t n = 0;

		if (files->rows[low].key.owner != function)
			break;
		if (ctx_line_has_weight(&files->rows[low]))
			status = ctx_source_texts_count(texts, files->rows[low].key.file, &n, err);
		*ret = n != 0;
	}
	return status;
}

/* Heaviest first: exclusive weight, then inclusive. */
static enum ctx_status choose_hottest(struct ctx_source_texts *texts, const struct ctx_line_rows *functions,
				      const struct ctx_line_rows *files, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_order_item *items CTX_AUTO_FREE = ctx_calloc(functions->n + 1, sizeof(*items));
	enum ctx_status status = CTX_OK;
	bool found = false;
	size_t n = 0;

	if (items == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 0; i < functions->n; i++) {
		const struct ctx_code_sum *sum = &functions->rows[i].sum;

		if (ctx_line_has_weight(&functions->rows[i]))
			items[n++] = (struct ctx_order_item){
				.number = sum->exclusive, .second = sum->inclusive, .index = i};
	}
	ctx_order_sort(items, n);
	*ret = n != 0 ? functions->rows[items[0].index].key.owner : CTX_NONE;
	for (size_t i = 0; status == CTX_OK && !found && i < n; i++) {
		uint32_t function = functions->rows[items[i].index].key.owner;

		status = has_text(texts, files, function, &found, err);
		if (status == CTX_OK && found)
			*ret = function;
	}
	return status;
}

/*
 * The function with the largest exclusive weight whose source text is there; if none has text, the
 * hottest that has lines. CTX_NONE: none of those has samples.
 */
static enum ctx_status find_hottest(struct ctx_source_texts *texts, uint32_t *ret, struct ctx_err *err)
{
	struct ctx_line_rows functions = {0}, files = {0};
	enum ctx_status status =
		ctx_line_rows_build(texts->view, key_of_lined_function, NULL, &functions, err);

	if (status == CTX_OK)
		status = ctx_line_rows_build(texts->view, key_of_function_and_file, NULL, &files, err);
	if (status == CTX_OK)
		status = choose_hottest(texts, &functions, &files, ret, err);
	ctx_line_rows_deinit(&functions);
	ctx_line_rows_deinit(&files);
	return status;
}

static enum ctx_status find_subject(struct ctx_source_texts *texts, const struct ctx_report_options *options,
				    struct ctx_subject *ret, struct ctx_err *err)
{
	const char *text = options->subject != NULL ? options->subject : options->function;
	uint32_t hottest = CTX_NONE;
	enum ctx_status status;

	if (text != NULL)
		return ctx_subject_find(texts->view, text, true, ret, err);
	status = find_hottest(texts, &hottest, err);
	if (status != CTX_OK || hottest == CTX_NONE)
		return status;
	return ctx_subject_function(texts->view, hottest, ret, err);
}

static void put_sections(struct page *page, const struct ctx_source_sections *sections)
{
	struct ctx_out *out = page->out;
	uint32_t limit = out->options->limit;

	if (page->subject->n == 0)
		ctx_out_line(out, "(nothing in this selection has line numbers)");
	if (page->subject->n > 1)
		ctx_out_line(out, ctx_out_format(out, "(%u %s of this name)", page->subject->n,
						 page->subject->is_file ? "files" : "functions"));
	for (size_t i = 0; i < sections->n && (limit == 0 || i < limit); i++) {
		page->section = &sections->sections[i];
		put_section(page);
	}
	if (limit != 0 && sections->n > limit)
		ctx_out_more(out, sections->n - limit, "section");
}

static enum ctx_status print_subject(struct ctx_source_texts *texts, const struct ctx_out_spec *spec,
				     const struct ctx_subject *subject, struct ctx_err *err)
{
	struct ctx_source_sections sections = {0};
	struct ctx_out out;
	struct page page = {.out = &out, .subject = subject, .texts = texts};
	enum ctx_status status = CTX_OK;

	if (subject->n != 0)
		status = ctx_source_sections_build(texts->view, subject, &sections, err);
	if (status == CTX_OK) {
		ctx_code_begin(&out, *spec, texts->view);
		put_sections(&page, &sections);
		ctx_out_rows_end(&out);
		status = ctx_out_end(&out, err);
	}
	ctx_source_sections_deinit(&sections);
	return status;
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	const struct ctx_out_spec spec = {
		.kind = &ctx_report_source, .selection = &source->selection, .options = options};
	struct ctx_subject subject = {0};
	struct ctx_source_texts texts;
	struct ctx_code_view view;
	enum ctx_status status = ctx_code_view_pull(source, NULL, &view, err);

	if (status == CTX_OK)
		status = ctx_source_texts_init(&texts, &view, err);
	if (status != CTX_OK)
		return status;
	status = find_subject(&texts, options, &subject, err);
	if (status == CTX_OK)
		status = print_subject(&texts, &spec, &subject, err);
	ctx_subject_deinit(&subject);
	ctx_source_texts_deinit(&texts);
	return status;
}

static const struct ctx_report_alias aliases[] = {{"src", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_source = {
	.name = "source",
	.takes_subject = true,
	.order = ": it is in the order of lines",
	.sort_exclusive = "exclusive",
	.sort_inclusive = "inclusive",
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
