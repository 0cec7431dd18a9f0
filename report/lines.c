/*
 * Hot lines. A row is a line in a function: a source line of a function that is inlined into
 * several others has one row, for the inlined function; the lines of the calls have their own rows.
 */
#include "base/mem.h"
#include "report/code_rows.h"
#include "report/kinds.h"
#include "report/order.h"
#include "report/out.h"
#include "report/part_cells.h"

#include <inttypes.h>

static const struct ctx_column columns[] = {
	{NULL, "Self", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},
	{NULL, "Total", CTX_STYLE_WEIGHT},
	{NULL, "%", CTX_STYLE_PERCENT},
	{NULL, "Samples", CTX_STYLE_COUNT},
	{NULL, "Line", CTX_STYLE_PLACE},
	{"function", "Function", CTX_STYLE_NAME},
	{"object", NULL, CTX_STYLE_NAME},
	{"file", NULL, CTX_STYLE_NAME},
	{"line", NULL, CTX_STYLE_COUNT},
	{"exclusive", NULL, CTX_STYLE_WEIGHT},
	{"inclusive", NULL, CTX_STYLE_WEIGHT},
	{"exclusive_samples", NULL, CTX_STYLE_COUNT},
	{"inclusive_samples", NULL, CTX_STYLE_COUNT},
	{"inlined", NULL, CTX_STYLE_COUNT},
};

static const char *const sort_keys[] = {
	"exclusive", "inclusive", "exclusive_samples", "inclusive_samples", "function", "file", NULL,
};

/* A line is a line number in a known file. */
static bool key_of(const void *context, uint32_t function, uint32_t file, uint32_t line,
		   struct ctx_line_key *ret)
{
	bool known = file != CTX_NONE && line != 0;

	(void)context;
	*ret = (struct ctx_line_key){function, known ? file : CTX_NONE, known ? line : 0};
	return true;
}

static void put_row(struct ctx_out *out, const struct ctx_code_view *view, const struct ctx_line_total *row)
{
	const struct ctx_profile *profile = out->profile;
	const struct ctx_code_sum *sum = &row->sum;
	struct ctx_cell name = ctx_function_cell(profile, row->key.owner);
	bool known = row->key.file != CTX_NONE;
	const char *file = known ? view->code->files[row->key.file].path : NULL;
	const char *place = CTX_NO_LINE;

	if (known && ctx_out_is_text(out))
		place = ctx_out_format(out, "%s:%" PRIu32, file, row->key.line);
	ctx_out_row(out, (struct ctx_cell[]){
				 ctx_cell_number(sum->exclusive),
				 ctx_cell_number(sum->exclusive),
				 ctx_cell_number(sum->inclusive),
				 ctx_cell_number(sum->inclusive),
				 ctx_cell_number(sum->exclusive_samples),
				 ctx_cell_name(place),
				 name,
				 ctx_cell_name(name.object),
				 ctx_cell_name(file),
				 known ? ctx_cell_number(row->key.line) : ctx_cell_name(NULL),
				 ctx_cell_number(sum->exclusive),
				 ctx_cell_number(sum->inclusive),
				 ctx_cell_number(sum->exclusive_samples),
				 ctx_cell_number(sum->inclusive_samples),
				 ctx_inlined_cell(profile, row->key.owner),
			 });
}

static size_t sort_rows(const struct ctx_code_view *view, const struct ctx_line_rows *rows,
			const char *filter, size_t key, struct ctx_order_item *items)
{
	size_t n = 0;

	for (size_t i = 0; i < rows->n; i++) {
		const struct ctx_line_total *row = &rows->rows[i];
		const struct ctx_code_sum *sum = &row->sum;
		const uint64_t numbers[] = {
			sum->exclusive, sum->inclusive, sum->exclusive_samples, sum->inclusive_samples, 0, 0};
		struct ctx_order_item item = {
			.number = numbers[key], .second = sum->inclusive, .index = (uint32_t)i};

		if ((sum->inclusive == 0 && sum->inclusive_samples == 0) ||
		    !ctx_function_matches(view->profile, row->key.owner, filter))
			continue;
		if (key == 4)
			item.text = view->profile->functions[row->key.owner].name;
		else if (key == 5)
			item.text = row->key.file != CTX_NONE ? view->code->files[row->key.file].path : "";
		if (key == 5)
			item.number = ctx_order_ascending(row->key.line);
		items[n++] = item;
	}
	ctx_order_sort(items, n);
	return n;
}

static enum ctx_status print(struct ctx_report_source *source, const struct ctx_report_options *options,
			     struct ctx_err *err)
{
	struct ctx_order_item *items CTX_AUTO_FREE = NULL;
	struct ctx_line_rows rows = {0};
	struct ctx_code_view view;
	struct ctx_out out;
	size_t key, n;
	enum ctx_status status = ctx_order_find("lines", options->sort, sort_keys, &key, err);

	if (status == CTX_OK)
		status = ctx_code_view_pull(source, options->function, &view, err);
	if (status == CTX_OK)
		status = ctx_line_rows_build(&view, key_of, NULL, &rows, err);
	if (status != CTX_OK)
		return status;
	items = ctx_calloc(rows.n, sizeof(*items));
	if (rows.n != 0 && items == NULL) {
		ctx_line_rows_deinit(&rows);
		return ctx_err_nomem(err);
	}
	n = sort_rows(&view, &rows, options->function, key, items);
	ctx_code_begin(&out,
		       (struct ctx_out_spec){.kind = &ctx_report_lines,
					     .selection = &source->selection,
					     .options = options},
		       &view);
	for (size_t i = 0; i < n && (options->limit == 0 || i < options->limit); i++)
		put_row(&out, &view, &rows.rows[items[i].index]);
	ctx_out_section(&out, NULL);
	if (options->limit != 0 && n > options->limit)
		ctx_out_more(&out, n - options->limit, "line");
	ctx_out_rows_end(&out);
	ctx_line_rows_deinit(&rows);
	return ctx_out_end(&out, err);
}

static const struct ctx_report_alias aliases[] = {{"lsummary", false}, {NULL, false}};

const struct ctx_report_kind ctx_report_lines = {
	.name = "lines",
	.sort_exclusive = "exclusive",
	.sort_inclusive = "inclusive",
	.aliases = aliases,
	.columns = columns,
	.n_columns = CTX_COUNT_OF(columns),
	.print = print,
};
