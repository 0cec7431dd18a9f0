#include "report/diff_report.h"

#include "report/kinds.h"
#include "report/names.h"
#include "report/out.h"
#include "report/part_cells.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum {
	WEIGHT_A,
	WEIGHT_B,
	CHANGE,
	PERCENT,
	ERROR,
	VERDICT,
	NAME,
	OBJECT,
	CHANGE_PERCENT,
	LOW,
	HIGH,
	P,
	N_COLUMNS,
};

/* Of load objects the name is the object, which has its own key. */
static const struct ctx_column function_columns[N_COLUMNS] = {
	[WEIGHT_A] = {"a", "A", CTX_STYLE_WEIGHT},
	[WEIGHT_B] = {"b", "B", CTX_STYLE_WEIGHT},
	[CHANGE] = {"change", "Change", CTX_STYLE_WEIGHT},
	[PERCENT] = {NULL, "%", CTX_STYLE_COUNT},
	[ERROR] = {NULL, "+-", CTX_STYLE_WEIGHT},
	[VERDICT] = {"verdict", "Verdict", CTX_STYLE_NAME},
	[NAME] = {"function", "Name", CTX_STYLE_NAME},
	[OBJECT] = {"object", NULL, CTX_STYLE_NAME},
	[CHANGE_PERCENT] = {"change_percent", NULL, CTX_STYLE_COUNT},
	[LOW] = {"low", NULL, CTX_STYLE_WEIGHT},
	[HIGH] = {"high", NULL, CTX_STYLE_WEIGHT},
	[P] = {"p", NULL, CTX_STYLE_COUNT},
};

struct page {
	struct ctx_out out;
	const struct ctx_diff_spec *spec;
	const struct ctx_report_options *options;
	struct ctx_diff diff;
	struct ctx_column columns[N_COLUMNS];
};

static struct ctx_cell null_cell(void)
{
	return ctx_cell_name(NULL);
}

static struct ctx_cell signed_cell(double weight)
{
	return isfinite(weight) ? ctx_cell_signed(llround(weight)) : null_cell();
}

static struct ctx_cell percent_cell(struct page *page, double change, double of, const char *format)
{
	return of > 0 ? ctx_cell_figure(ctx_out_format(&page->out, format, 100 * change / of)) : null_cell();
}

static void fill(struct page *page, const struct ctx_evidence *evidence, double a, double b,
		 struct ctx_cell *cells)
{
	double error = (evidence->high - evidence->low) / 2;
	bool known = isfinite(error) && error > 0;

	cells[WEIGHT_A] = ctx_cell_number((uint64_t)llround(a));
	cells[WEIGHT_B] = ctx_cell_number((uint64_t)llround(b));
	cells[CHANGE] = signed_cell(b - a);
	cells[PERCENT] = percent_cell(page, b - a, a, "%+.1f");
	cells[CHANGE_PERCENT] = percent_cell(page, b - a, a, "%.4f");
	cells[ERROR] = known ? ctx_cell_number((uint64_t)llround(error)) : null_cell();
	cells[LOW] = known ? signed_cell(evidence->low) : null_cell();
	cells[HIGH] = known ? signed_cell(evidence->high) : null_cell();
	cells[P] = known ? ctx_cell_figure(ctx_out_format(&page->out, "%.6g", evidence->p)) : null_cell();
}

static void put_total(struct page *page)
{
	const struct ctx_diff *diff = &page->diff;
	struct ctx_cell cells[N_COLUMNS];

	fill(page, &diff->total, diff->sides[CTX_COMPARE_A].weight, diff->sides[CTX_COMPARE_B].weight, cells);
	cells[VERDICT] = ctx_cell_name(ctx_verdict_word(diff->total_verdict));
	cells[NAME] = ctx_cell_name("<Total>");
	cells[OBJECT] = null_cell();
	ctx_out_row(&page->out, cells);
}

static void put_row(struct page *page, const struct ctx_diff_row *row)
{
	const struct ctx_match_item *item = &page->diff.matching.items[row->item];
	struct ctx_cell cells[N_COLUMNS];

	fill(page, &row->evidence, row->weight[CTX_COMPARE_A], row->weight[CTX_COMPARE_B], cells);
	cells[VERDICT] = ctx_cell_name(ctx_verdict_word(row->verdict));
	cells[NAME] = ctx_function_cell(item->profile, item->function);
	cells[OBJECT] = ctx_cell_name(cells[NAME].object);
	if (page->spec->subject == CTX_MATCH_OBJECTS && cells[NAME].object != NULL)
		cells[NAME] = cells[OBJECT];
	ctx_out_row(&page->out, cells);
}

static void put_rows(struct page *page)
{
	uint32_t shown = 0, left_out = 0;

	put_total(page);
	for (size_t i = 0; i < page->diff.n; i++) {
		const struct ctx_diff_row *row = &page->diff.rows[i];
		const struct ctx_match_item *item = &page->diff.matching.items[row->item];

		if (page->spec->subject == CTX_MATCH_FUNCTIONS &&
		    !ctx_function_matches(item->profile, item->function, page->options->function))
			continue;
		if (page->options->limit != 0 && shown == page->options->limit) {
			left_out++;
			continue;
		}
		shown++;
		put_row(page, row);
	}
	ctx_out_section(&page->out, NULL);
	ctx_out_more(&page->out, left_out, page->spec->subject == CTX_MATCH_OBJECTS ? "object" : "function");
}

static void put_side(struct page *page, enum ctx_compare_side side)
{
	const struct ctx_diff_side *given = &page->spec->sides[side];
	const struct ctx_diff_totals *totals = &page->diff.sides[side];
	struct ctx_buf text CTX_AUTO_BUF = {0};

	for (size_t i = 0; i < given->n; i++) {
		ctx_buf_put_text(&text, i != 0 ? ", " : "");
		ctx_name_put_text(&text, given->sources[i]->selection.path, page->options->ascii);
	}
	ctx_buf_printf(&text, ": %" PRIu64 " samples, ", totals->samples);
	if (given->n > 1)
		ctx_buf_printf(&text, "%zu recordings", given->n);
	else
		ctx_buf_printf(&text, "%zu blocks of %.0f ms", totals->blocks,
			       (double)totals->length_ns / 1e6);
	ctx_buf_put_u8(&text, '\0');
	if (!text.failed)
		ctx_out_line(&page->out,
			     ctx_out_format(&page->out, "%c: %s", "AB"[side], (const char *)text.bytes));
}

static void put_titles(struct page *page)
{
	const struct ctx_diff *diff = &page->diff;
	double whole = diff->sides[CTX_COMPARE_A].weight, least = diff->total.detectable;

	ctx_out_line(&page->out,
		     ctx_out_format(&page->out, "Difference of %s, %s time",
				    page->spec->subject == CTX_MATCH_OBJECTS ? "load objects" : "functions",
				    page->spec->total ? "total" : "self"));
	for (enum ctx_compare_side side = CTX_COMPARE_A; side < CTX_COMPARE_SIDES; side++)
		put_side(page, side);
	if (isfinite(least) && whole > 0)
		ctx_out_wrapped(&page->out, "",
				ctx_out_format(&page->out,
					       "A change of the total by %.1f %% would be found in four of "
					       "five such comparisons.",
					       100 * least / whole),
				0);
	else
		ctx_out_wrapped(
			&page->out, "",
			"Too few blocks to tell changes from chance: record longer, or several times.", 0);
	if (page->spec->sides[CTX_COMPARE_A].n == 1 && page->spec->sides[CTX_COMPARE_B].n == 1)
		ctx_out_wrapped(
			&page->out, "",
			ctx_out_format(
				&page->out,
				"One recording does not tell how much runs differ, %.0f %% is assumed; "
				"several do: A1.er,A2.er,A3.er B1.er,B2.er,B3.er",
				100 * CTX_DIFF_NOISE),
			0);
	ctx_out_line(&page->out, "");
}

static void put_lists(struct page *page)
{
	static const struct ctx_column side_columns[] = {{"samples", NULL, CTX_STYLE_COUNT},
							 {"weight", NULL, CTX_STYLE_COUNT},
							 {"blocks", NULL, CTX_STYLE_COUNT},
							 {"block_ns", NULL, CTX_STYLE_COUNT}};
	struct ctx_out *out = &page->out;

	ctx_out_list_begin(out, "sides");
	for (enum ctx_compare_side side = CTX_COMPARE_A; side < CTX_COMPARE_SIDES; side++) {
		const struct ctx_diff_totals *totals = &page->diff.sides[side];
		const struct ctx_cell cells[] = {
			ctx_cell_number(totals->samples), ctx_cell_number((uint64_t)llround(totals->weight)),
			ctx_cell_number(totals->blocks), ctx_cell_number(totals->length_ns)};

		ctx_out_list_row_begin(out, side_columns, CTX_COUNT_OF(side_columns), cells);
		ctx_out_list_begin(out, "inputs");
		for (size_t i = 0; i < page->spec->sides[side].n; i++)
			ctx_out_list_name(out, page->spec->sides[side].sources[i]->selection.path);
		ctx_out_list_end(out);
		ctx_out_list_row_end(out);
	}
	ctx_out_list_end(out);
}

enum ctx_status ctx_diff_report_print(const struct ctx_diff_spec *spec,
				      const struct ctx_report_options *options, struct ctx_err *err)
{
	struct page page = {.spec = spec, .options = options};
	bool objects = spec->subject == CTX_MATCH_OBJECTS;
	struct ctx_out_spec out = {.kind = objects ? &ctx_report_objects : &ctx_report_functions,
				   .selection = &spec->sides[CTX_COMPARE_A].sources[0]->selection,
				   .options = options,
				   .columns = page.columns,
				   .n_columns = N_COLUMNS,
				   .own_title = true};
	enum ctx_status status = ctx_diff_make(spec, &page.diff, err);

	if (status != CTX_OK)
		return status;
	memcpy(page.columns, function_columns, sizeof(page.columns));
	if (objects)
		page.columns[NAME].key = NULL;
	out.totals.samples = page.diff.sides[CTX_COMPARE_A].samples;
	out.totals.weight = (uint64_t)llround(
		fmax(page.diff.sides[CTX_COMPARE_A].weight, page.diff.sides[CTX_COMPARE_B].weight));
	ctx_out_begin(&page.out, &out);
	put_titles(&page);
	put_rows(&page);
	ctx_out_rows_end(&page.out);
	put_lists(&page);
	status = ctx_out_end(&page.out, err);
	ctx_diff_deinit(&page.diff);
	return status;
}
