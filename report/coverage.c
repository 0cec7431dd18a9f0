/*
 * Coverage: which lines were executed. As text a row for each function, those with most lines that were not first; otherwise a row
 * for each line.
 */
#include "base/mem.h"
#include "report/coverage_lines.h"
#include "report/head.h"
#include "report/kinds.h"
#include "report/out.h"
#include "report/part_cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FUNCTION, OBJECT, FILE_PATH, LINE, COUNT, SITES, MISSING, LINES, PERCENT, NAME_TEXT, N_COLUMNS };

static const struct ctx_column columns[N_COLUMNS] = {
	[FUNCTION] = {"function", NULL, CTX_STYLE_NAME},
	[OBJECT] = {"object", NULL, CTX_STYLE_NAME},
	[FILE_PATH] = {"file", NULL, CTX_STYLE_NAME},
	[LINE] = {"line", NULL, CTX_STYLE_COUNT},
	[COUNT] = {"count", NULL, CTX_STYLE_COUNT},
	[SITES] = {"sites", NULL, CTX_STYLE_COUNT},
	[MISSING] = {NULL, "Missing", CTX_STYLE_COUNT},
	[LINES] = {NULL, "Lines", CTX_STYLE_COUNT},
	[PERCENT] = {NULL, "Executed", CTX_STYLE_NAME},
	[NAME_TEXT] = {NULL, "Function, and the lines that were not executed", CTX_STYLE_NAME},
};

struct function { /* a run of lines with the same function and file, in another order */
	size_t first, n;
	uint64_t missing;
};

struct page {
	const struct ctx_profile *profile;
	struct ctx_coverage_lines lines;
	const struct ctx_coverage_line **by_function; /* owned */
	struct function *functions;		      /* owned */
	size_t n_functions, functions_cap;
	uint64_t n_lines, n_executed,
		n_entered; /* lines of files, those that were executed; functions that were */
};

static void page_deinit(struct page *page)
{
	ctx_coverage_lines_deinit(&page->lines);
	free(page->by_function);
	free(page->functions);
}

static const char *path_of(const struct page *page, const struct ctx_coverage_line *line)
{
	return line->file != CTX_NONE ? page->lines.code->files[line->file].path : NULL;
}

static const char *object_of(const struct page *page, const struct ctx_coverage_line *line)
{
	const struct ctx_profile *profile = page->profile;
	uint32_t object =
		line->function < profile->n_functions ? profile->functions[line->function].object : CTX_NONE;

	return object < profile->n_objects ? profile->objects[object].path : NULL;
}

static const char *name_of(struct ctx_out *out, const struct page *page, const struct ctx_coverage_line *line)
{
	size_t n;
	const char *name = ctx_coverage_function(page->profile, line->function, &n);

	return n != 0 ? ctx_out_format(out, "%.*s", (int)n, name) : "<Unknown>";
}

/* By function, file and line. */
static int by_function(const void *a, const void *b, void *context)
{
	const struct page *page = context;
	const struct ctx_coverage_line *left = *(const struct ctx_coverage_line *const *)a;
	const struct ctx_coverage_line *right = *(const struct ctx_coverage_line *const *)b;
	size_t n_left, n_right;
	const char *left_name = ctx_coverage_function(page->profile, left->function, &n_left);
	const char *right_name = ctx_coverage_function(page->profile, right->function, &n_right);
	int order = memcmp(left_name, right_name, n_left < n_right ? n_left : n_right);

	if (order == 0 && n_left != n_right)
		return n_left < n_right ? -1 : 1;
	if (order != 0)
		return order;
	return left < right ? -1 : left > right;
}

static bool is_same_function(const struct page *page, const struct ctx_coverage_line *a,
			     const struct ctx_coverage_line *b)
{
	size_t n_a, n_b;
	const char *left = ctx_coverage_function(page->profile, a->function, &n_a);
	const char *right = ctx_coverage_function(page->profile, b->function, &n_b);

	return a->file == b->file && n_a == n_b && memcmp(left, right, n_a) == 0;
}

static int by_missing(const void *a, const void *b)
{
	const struct function *left = a, *right = b;

	if (left->missing != right->missing)
		return left->missing > right->missing ? -1 : 1;
	return left->first < right->first ? -1 : left->first > right->first;
}

/* Lines of functions without line tables are in no file, and are counted as functions alone. */
static enum ctx_status divide(struct page *page, struct ctx_err *err)
{
	size_t n = page->lines.n;

	page->by_function = ctx_calloc(n + 1, sizeof(const struct ctx_coverage_line *));
	if (page->by_function == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		page->by_function[i] = &page->lines.items[i];
	if (n != 0)
		qsort_r(page->by_function, n, sizeof(const struct ctx_coverage_line *), by_function, page);
	for (size_t i = 0; i < n;) {
		struct function function = {.first = i};
		bool entered = false;
		enum ctx_status status;

		for (;
		     i < n && is_same_function(page, page->by_function[function.first], page->by_function[i]);
		     i++) {
			const struct ctx_coverage_line *line = page->by_function[i];
			bool executed = line->executed != 0;

			function.n++;
			function.missing += !executed;
			entered = entered || executed;
			page->n_lines += line->file != CTX_NONE;
			page->n_executed += line->file != CTX_NONE && executed;
		}
		page->n_entered += entered;
		status = ctx_grow(&page->functions, &page->functions_cap, page->n_functions + 1, err);
		if (status != CTX_OK)
			return status;
		page->functions[page->n_functions++] = function;
	}
	if (page->n_functions != 0)
		qsort(page->functions, page->n_functions, sizeof(*page->functions), by_missing);
	return CTX_OK;
}

static void put_line(struct ctx_out *out, const struct page *page, const struct ctx_coverage_line *line)
{
	bool known = line->file != CTX_NONE;

	ctx_out_row(out, (struct ctx_cell[N_COLUMNS]){
				 [FUNCTION] = ctx_cell_name(name_of(out, page, line)),
				 [OBJECT] = ctx_cell_name(object_of(page, line)),
				 [FILE_PATH] = ctx_cell_name(path_of(page, line)),
				 [LINE] = known ? ctx_cell_number(line->line) : ctx_cell_name(NULL),
				 [COUNT] = ctx_cell_number(line->executed),
				 [SITES] = ctx_cell_number(line->sites),
				 [MISSING] = ctx_cell_number(0),
				 [LINES] = ctx_cell_number(0),
				 [PERCENT] = ctx_cell_name(NULL),
				 [NAME_TEXT] = ctx_cell_name(NULL),
			 });
}

#define RUNS_SHOWN 8u

/* "f file.c:10-12,17": runs of lines that were not executed, with those without code between them. */
static const char *text_of(struct ctx_out *out, const struct page *page, const struct function *function)
{
	const struct ctx_coverage_line *const *lines = page->by_function + function->first;
	const char *path = path_of(page, lines[0]);
	const char *text = name_of(out, page, lines[0]);
	unsigned shown = 0;

	if (path == NULL)
		return text;
	text = ctx_out_format(out, "%s %s", text, strrchr(path, '/') != NULL ? strrchr(path, '/') + 1 : path);
	for (size_t i = 0; i < function->n; i++) {
		size_t first = i;

		if (lines[i]->executed != 0)
			continue;
		while (i + 1 < function->n && lines[i + 1]->executed == 0)
			i++;
		if (shown == RUNS_SHOWN)
			return ctx_out_format(out, "%s, ...", text);
		text = ctx_out_format(out, "%s%c%" PRIu32, text, shown == 0 ? ':' : ',', lines[first]->line);
		if (i != first)
			text = ctx_out_format(out, "%s-%" PRIu32, text, lines[i]->line);
		shown++;
	}
	return text;
}

static void put_function(struct ctx_out *out, const struct page *page, const struct function *function)
{
	uint64_t executed = function->n - function->missing;

	ctx_out_row(out, (struct ctx_cell[N_COLUMNS]){
				 [FUNCTION] = ctx_cell_name(NULL),
				 [OBJECT] = ctx_cell_name(NULL),
				 [FILE_PATH] = ctx_cell_name(NULL),
				 [LINE] = ctx_cell_number(0),
				 [COUNT] = ctx_cell_number(0),
				 [SITES] = ctx_cell_number(0),
				 [MISSING] = ctx_cell_number(function->missing),
				 [LINES] = ctx_cell_number(function->n),
				 [PERCENT] = ctx_cell_name(ctx_out_format(
					 out, "%.1f %%", 100.0 * (double)executed / (double)function->n)),
				 [NAME_TEXT] = ctx_cell_name(text_of(out, page, function)),
			 });
}

static void put_page(struct ctx_out *out, const struct page *page, bool is_text, uint32_t limit)
{
	size_t n = is_text ? page->n_functions : page->lines.n;

	for (size_t i = 0; i < n && (limit == 0 || i < limit); i++) {
		if (is_text)
			put_function(out, page, &page->functions[i]);
		else
			put_line(out, page, &page->lines.items[i]);
	}
	ctx_out_section(out, NULL);
	if (limit != 0 && n > limit)
		ctx_out_more(out, n - limit, is_text ? "function" : "line");
	ctx_out_rows_end(out);
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct page page CTX_CLEANUP(page_deinit) = {.profile = source->selection.profile};
	struct ctx_head_topic topic = {.metric = {.name = "Coverage", .unit = CTX_UNIT_NONE},
				       .counted = "lines"};
	struct ctx_out_spec spec = {.kind = &ctx_report_coverage,
				    .selection = &source->selection,
				    .options = options,
				    .topic = &topic};
	struct ctx_out out;
	char note[200];
	enum ctx_status status = ctx_coverage_lines_pull(source, &page.lines, err);

	if (status == CTX_OK && !page.lines.has_any)
		return ctx_err_set(err, CTX_E_ARG, "no coverage was recorded (ctxrec --indicator '*:once')");
	if (status == CTX_OK)
		status = divide(&page, err);
	if (status != CTX_OK)
		return status;
	topic.totals.samples = topic.totals.weight = page.n_executed;
	snprintf(note, sizeof(note),
		 "%" PRIu64 " of %" PRIu64 " lines (%.1f %%) and %" PRIu64 " of %zu functions were executed",
		 page.n_executed, page.n_lines,
		 page.n_lines != 0 ? 100.0 * (double)page.n_executed / (double)page.n_lines : 0,
		 page.n_entered, page.n_functions);
	topic.note = note;
	ctx_out_begin(&out, &spec);
	put_page(&out, &page, ctx_out_is_text(&out), options->limit);
	return ctx_out_end(&out, err);
}

const struct ctx_report_kind ctx_report_coverage = {
	.name = "coverage",
	.metrics = CTX_REPORT_NO_METRIC,
	.no_function = true,
	.order = ": functions with most lines that were not executed come first",
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
