#include "report/diff_page.h"

#include "report/diff_notes.h"
#include "report/names.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* In front of the identity, and behind it. */
enum { WEIGHT_A, WEIGHT_B, CHANGE, PERCENT, ERROR, VERDICT, N_FRONT };
enum { CHANGE_PERCENT, LOW, HIGH, P, N_BACK };

static const struct ctx_column front_columns[N_FRONT] = {
	[WEIGHT_A] = {"a", "A", CTX_STYLE_WEIGHT},	   [WEIGHT_B] = {"b", "B", CTX_STYLE_WEIGHT},
	[CHANGE] = {"change", "Change", CTX_STYLE_WEIGHT}, [PERCENT] = {NULL, "%", CTX_STYLE_COUNT},
	[ERROR] = {NULL, "+-", CTX_STYLE_WEIGHT},	   [VERDICT] = {"verdict", "Verdict", CTX_STYLE_NAME},
};

static const struct ctx_column back_columns[N_BACK] = {
	[CHANGE_PERCENT] = {"change_percent", NULL, CTX_STYLE_COUNT},
	[LOW] = {"low", NULL, CTX_STYLE_WEIGHT},
	[HIGH] = {"high", NULL, CTX_STYLE_WEIGHT},
	[P] = {"p", NULL, CTX_STYLE_COUNT},
};

static bool is_scaled(const struct ctx_diff_page *page)
{
	return page->spec->weighting.weights != CTX_WEIGHTS_ABSOLUTE;
}

void ctx_diff_page_columns(struct ctx_diff_page *page)
{
	memcpy(page->columns, front_columns, sizeof(front_columns));
	/* Their unit is in the title. */
	for (size_t i = 0; i < N_FRONT && is_scaled(page); i++) {
		if (page->columns[i].style == CTX_STYLE_WEIGHT)
			page->columns[i].style = CTX_STYLE_COUNT;
	}
	memcpy(page->columns + N_FRONT, page->form->columns, page->form->n_columns * sizeof(*page->columns));
	memcpy(page->columns + N_FRONT + page->form->n_columns, back_columns, sizeof(back_columns));
	page->n_columns = N_FRONT + page->form->n_columns + N_BACK;
}

struct ctx_cell *ctx_diff_page_identity(struct ctx_cell cells[CTX_DIFF_COLUMNS_MAX])
{
	return cells + N_FRONT;
}

/* In text, times that are divided by something are ms; shares are per cent. */
static double shown(const struct ctx_diff_page *page, double weight)
{
	return page->spec->weighting.weights != CTX_WEIGHTS_SHARE &&
			       ctx_head_metric(&page->out.head).unit == CTX_UNIT_NS
		       ? weight / 1e6
		       : weight;
}

/* A weight, or with `sign` a change. */
static struct ctx_cell weight_cell(struct ctx_diff_page *page, double weight, bool sign)
{
	if (!isfinite(weight))
		return ctx_cell_name(NULL);
	if (!is_scaled(page))
		return sign ? ctx_cell_signed(llround(weight)) : ctx_cell_number((uint64_t)llround(weight));
	if (!ctx_out_is_text(&page->out))
		return ctx_cell_figure(ctx_out_format(&page->out, "%.6f", weight));
	return ctx_cell_figure(ctx_out_format(&page->out, sign ? "%+.3f" : "%.3f", shown(page, weight)));
}

static struct ctx_cell percent_cell(struct ctx_diff_page *page, double change, double of, const char *format)
{
	/* Of a tiny weight it is no figure that anybody reads. */
	return of > 0 && isfinite(100 * change / of)
		       ? ctx_cell_figure(ctx_out_format(&page->out, format, 100 * change / of))
		       : ctx_cell_name(NULL);
}

void ctx_diff_page_fill(struct ctx_diff_page *page, uint32_t row, struct ctx_cell cells[CTX_DIFF_COLUMNS_MAX])
{
	const struct ctx_diff *diff = &page->diff;
	bool whole = row == CTX_NONE;
	const struct ctx_evidence *evidence = whole ? &diff->total : &diff->rows[row].evidence;
	double a = whole ? diff->sides[CTX_COMPARE_A].weight : diff->rows[row].weight[CTX_COMPARE_A];
	double b = whole ? diff->sides[CTX_COMPARE_B].weight : diff->rows[row].weight[CTX_COMPARE_B];
	double error = (evidence->high - evidence->low) / 2;
	bool known = isfinite(error) && error > 0;
	struct ctx_cell *back = cells + N_FRONT + page->form->n_columns;

	cells[WEIGHT_A] = weight_cell(page, a, false);
	cells[WEIGHT_B] = weight_cell(page, b, false);
	cells[CHANGE] = weight_cell(page, b - a, true);
	cells[PERCENT] = percent_cell(page, b - a, a, "%+.1f");
	cells[ERROR] = known ? weight_cell(page, error, false) : ctx_cell_name(NULL);
	cells[VERDICT] =
		ctx_cell_name(ctx_verdict_word(whole ? diff->total_verdict : diff->rows[row].verdict));
	back[CHANGE_PERCENT] = percent_cell(page, b - a, a, "%.4f");
	back[LOW] = known ? weight_cell(page, evidence->low, true) : ctx_cell_name(NULL);
	back[HIGH] = known ? weight_cell(page, evidence->high, true) : ctx_cell_name(NULL);
	back[P] = known ? ctx_cell_figure(ctx_out_format(&page->out, "%.6g", evidence->p))
			: ctx_cell_name(NULL);
	if (!whole) {
		page->form->fill(&page->out, &diff->items, diff->rows[row].item, cells + N_FRONT);
		return;
	}
	for (size_t i = 0; i < page->form->n_columns; i++)
		cells[N_FRONT + i] = ctx_cell_name(NULL);
	cells[N_FRONT + page->form->name] = ctx_cell_name("<Total>");
	/* The name in text is another column where it is made of several keys. */
	for (size_t i = 0; i < page->form->n_columns && page->form->columns[page->form->name].title == NULL;
	     i++) {
		if (page->form->columns[i].title != NULL)
			cells[N_FRONT + i] = ctx_cell_name("<Total>");
	}
}

/* ---- titles ---- */

static const char *unit_of(const struct ctx_diff_page *page)
{
	enum ctx_unit unit = ctx_head_metric(&page->out.head).unit;

	return unit == CTX_UNIT_NS ? "ms" : unit == CTX_UNIT_BYTES ? "bytes" : "events";
}

const char *ctx_diff_page_change(struct ctx_diff_page *page, double change)
{
	const struct ctx_scale *scale = &page->out.head.scale;

	if (is_scaled(page))
		return ctx_out_format(&page->out, "%+.3f", shown(page, change));
	return ctx_out_format(&page->out, "%+.*f%s%s", (int)scale->digits, change / (double)scale->divisor,
			      *scale->unit != '\0' ? " " : "", scale->unit);
}

static const char *per_call(struct ctx_diff_page *page)
{
	struct ctx_buf name CTX_AUTO_BUF = {0};

	ctx_name_put_text(&name, page->spec->weighting.function, page->options->ascii);
	ctx_buf_put_u8(&name, '\0');
	return name.failed ? ""
			   : ctx_out_format(&page->out, ", %s per call of %s", unit_of(page),
					    (const char *)name.bytes);
}

/* ", ms per second" */
static const char *weights_of(struct ctx_diff_page *page)
{
	const struct ctx_weighting *weighting = &page->spec->weighting;

	switch (weighting->weights) {
	case CTX_WEIGHTS_PER_SECOND:
		return ctx_out_format(&page->out, ", %s per second", unit_of(page));
	case CTX_WEIGHTS_SHARE:
		return ", per cent of all";
	case CTX_WEIGHTS_PER_COUNT:
		if (weighting->function != NULL)
			return per_call(page);
		return ctx_out_format(&page->out, ", %s per unit: %g on side A, %g on side B", unit_of(page),
				      weighting->counts[CTX_COMPARE_A], weighting->counts[CTX_COMPARE_B]);
	case CTX_WEIGHTS_ABSOLUTE:
	case CTX_WEIGHTS_N:
		break;
	}
	return "";
}

static void put_title(struct ctx_diff_page *page)
{
	const char *whole = page->form->whole != NULL ? page->form->whole
			    : page->spec->total	      ? "total time"
						      : "self time";
	const char *weights = weights_of(page);

	if (page->title != NULL)
		ctx_out_line(&page->out,
			     ctx_out_format(&page->out, "Difference of %s%s", page->title, weights));
	else
		ctx_out_line(&page->out, ctx_out_format(&page->out, "Difference of %s, %s%s",
							page->form->title, whole, weights));
}

static const char *side_unit(const struct ctx_diff_page *page)
{
	return page->spec->unit != NULL ? page->spec->unit : "recording";
}

static void put_side(struct ctx_diff_page *page, enum ctx_compare_side side)
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
		ctx_buf_printf(&text, "%zu %ss", given->n, side_unit(page));
	else if (page->diff.no_samples)
		ctx_buf_printf(&text, "1 %s", side_unit(page));
	else
		ctx_buf_printf(&text, "%zu blocks of %.0f ms", totals->blocks,
			       (double)totals->length_ns / 1e6);
	ctx_buf_put_u8(&text, '\0');
	if (!text.failed)
		ctx_out_line(&page->out,
			     ctx_out_format(&page->out, "%c: %s", "AB"[side], (const char *)text.bytes));
}

/* Rows whose weights do not add up say nothing about what one side has alone. */
static bool adds_up(const struct ctx_diff_page *page)
{
	return !page->spec->total && page->spec->subject != CTX_DIFF_CALLERS &&
	       page->spec->subject != CTX_DIFF_TREE;
}

static bool is_alone(const struct ctx_diff_page *page, enum ctx_compare_side side)
{
	const struct ctx_diff_totals *totals = &page->diff.sides[side];

	return totals->alone > totals->weight * (1 - 1e-9);
}

static void put_alone(struct ctx_diff_page *page)
{
	const struct ctx_diff_totals *a = &page->diff.sides[CTX_COMPARE_A],
				     *b = &page->diff.sides[CTX_COMPARE_B];

	if (!adds_up(page) || (a->alone == 0 && b->alone == 0))
		return;
	if (is_alone(page, CTX_COMPARE_A) && is_alone(page, CTX_COMPARE_B))
		ctx_out_wrapped(&page->out, "",
				ctx_out_format(&page->out,
					       "No %s is on both sides: other programs, or other names "
					       "(--rename RE=TEXT).",
					       page->form->one),
				0);
	else
		ctx_out_wrapped(&page->out, "",
				ctx_out_format(&page->out, "On one side only: %.1f %% of A and %.1f %% of B.",
					       100 * a->alone / a->weight, 100 * b->alone / b->weight),
				0);
}

#define NOTES_MOST 4u

/* A note on one recording or several. */
struct note {
	const char *path, *text; /* borrowed until the section ends */
	unsigned n;		 /* recordings */
};

struct noting {
	struct ctx_diff_page *page;
	struct note notes[NOTES_MOST];
	unsigned n, more; /* notes that are kept, and what is not */
};

static void keep_note(void *context, const char *path, const char *text)
{
	struct noting *noting = context;
	struct note *note = noting->notes;

	while (note < noting->notes + noting->n && strcmp(note->text, text) != 0)
		note++;
	if (note == noting->notes + noting->n) {
		if (noting->n == NOTES_MOST) {
			noting->more++;
			return;
		}
		*note = (struct note){path, ctx_out_format(&noting->page->out, "%s", text), 0};
		noting->n++;
	}
	note->n++;
}

static void put_note(struct ctx_diff_page *page, const struct note *note)
{
	struct ctx_buf line CTX_AUTO_BUF = {0};

	ctx_name_put_text(&line, note->path, page->options->ascii);
	if (note->n > 1)
		ctx_buf_printf(&line, " and %u more", note->n - 1);
	ctx_buf_put_text(&line, ": ");
	ctx_name_put_text(&line, note->text, page->options->ascii);
	ctx_buf_put_u8(&line, '\0');
	if (!line.failed)
		ctx_out_wrapped(&page->out, "note: ", (const char *)line.bytes, 6);
}

static void put_notes(struct ctx_diff_page *page)
{
	struct noting noting = {.page = page};

	ctx_diff_notes(page->spec, keep_note, &noting);
	for (unsigned i = 0; i < noting.n; i++)
		put_note(page, &noting.notes[i]);
	if (noting.more != 0)
		ctx_out_line(&page->out, ctx_out_format(&page->out, "note: and %u more", noting.more));
}

/* In per cent of A, unless that is no figure for people: A may be next to nothing, or the machine too restless. */
static void put_detectable_total(struct ctx_diff_page *page, double least)
{
	double a = page->diff.sides[CTX_COMPARE_A].weight, b = page->diff.sides[CTX_COMPARE_B].weight;
	const char *change;

	if (least > CTX_DIFF_TENFOLD * fmax(a, b)) {
		ctx_out_wrapped(&page->out, "",
				"Not even a tenfold total would be found in four of five such comparisons: "
				"record longer, or several times.",
				0);
		return;
	}
	change = least > CTX_DIFF_TENFOLD * a ? ctx_diff_page_change(page, least)
					      : ctx_out_format(&page->out, "%.1f %%", 100 * least / a);
	ctx_out_wrapped(&page->out, "",
			ctx_out_format(&page->out,
				       "A change of the total by %s would be found in four of five such "
				       "comparisons.",
				       change),
			0);
}

void ctx_diff_page_put_titles(struct ctx_diff_page *page)
{
	const struct ctx_diff *diff = &page->diff;
	double whole = diff->sides[CTX_COMPARE_A].weight, least = diff->total.detectable;

	put_title(page);
	for (enum ctx_compare_side side = CTX_COMPARE_A; side < CTX_COMPARE_SIDES; side++)
		put_side(page, side);
	if (ctx_out_is_text(&page->out))
		put_notes(page);
	put_alone(page);
	if (isfinite(least))
		put_detectable_total(page, least);
	else if (diff->no_samples)
		ctx_out_wrapped(&page->out, "",
				"Without samples one by one (an archive, a fleet) a recording does not tell "
				"changes from "
				"chance by itself: several of a side do, or ctxan --archive --with-samples.",
				0);
	else if (page->spec->weighting.weights != CTX_WEIGHTS_SHARE)
		ctx_out_wrapped(
			&page->out, "",
			"Too few blocks to tell changes from chance: record longer, or several times.", 0);
	if (!diff->no_samples && page->spec->sides[CTX_COMPARE_A].n == 1 &&
	    page->spec->sides[CTX_COMPARE_B].n == 1)
		ctx_out_wrapped(
			&page->out, "",
			ctx_out_format(
				&page->out,
				"One recording does not tell how much runs differ, %.0f %% is assumed; "
				"several do: A1.er,A2.er,A3.er B1.er,B2.er,B3.er",
				100 * CTX_DIFF_NOISE),
			0);
	if (diff->displaced > 0.005 * whole)
		ctx_out_wrapped(
			&page->out, "",
			ctx_out_format(
				&page->out,
				"Threads waited longer for a processor on side %c: other programs may have "
				"caused up to %s of the change of the total.",
				"AB"[diff->total.change < 0],
				ctx_diff_page_change(page, copysign(diff->displaced, diff->total.change))),
			0);
}

/* ---- the keys of the whole ---- */

static void put_intervals(struct ctx_out *out, const struct ctx_report_selection *selection)
{
	static const struct ctx_column columns[] = {{"begin", NULL, CTX_STYLE_TIME},
						    {"end", NULL, CTX_STYLE_TIME}};

	ctx_out_list_begin(out, "intervals");
	for (size_t i = 0; i < selection->n_intervals; i++)
		ctx_out_list_row(out, columns, CTX_COUNT_OF(columns),
				 (struct ctx_cell[]){ctx_cell_number(selection->intervals[i].begin_ns),
						     ctx_cell_number(selection->intervals[i].end_ns)});
	ctx_out_list_end(out);
}

static void put_side_row(struct ctx_diff_page *page, enum ctx_compare_side side)
{
	static const struct ctx_column columns[] = {{"samples", NULL, CTX_STYLE_COUNT},
						    {"weight", NULL, CTX_STYLE_COUNT},
						    {"alone", NULL, CTX_STYLE_COUNT},
						    {"blocks", NULL, CTX_STYLE_COUNT},
						    {"block_ns", NULL, CTX_STYLE_COUNT}};
	const struct ctx_diff_totals *totals = &page->diff.sides[side];
	const struct ctx_diff_side *given = &page->spec->sides[side];
	struct ctx_out *out = &page->out;
	const struct ctx_cell cells[] = {
		ctx_cell_number(totals->samples), weight_cell(page, totals->weight, false),
		adds_up(page) ? weight_cell(page, totals->alone, false) : ctx_cell_name(NULL),
		ctx_cell_number(totals->blocks), ctx_cell_number(totals->length_ns)};

	ctx_out_list_row_begin(out, columns, CTX_COUNT_OF(columns), cells);
	ctx_out_list_begin(out, "inputs");
	for (size_t i = 0; i < given->n; i++)
		ctx_out_list_name(out, given->sources[i]->selection.path);
	ctx_out_list_end(out);
	put_intervals(out, &given->sources[0]->selection);
	ctx_out_list_row_end(out);
}

static void put_test(struct ctx_diff_page *page)
{
	static const struct ctx_column columns[] = {
		{"name", NULL, CTX_STYLE_NAME},		  {"unit", NULL, CTX_STYLE_NAME},
		{"tested", NULL, CTX_STYLE_COUNT},	  {"false_discovery_rate", NULL, CTX_STYLE_COUNT},
		{"assumed_noise", NULL, CTX_STYLE_COUNT}, {"splits", NULL, CTX_STYLE_COUNT}};
	bool single = page->spec->sides[CTX_COMPARE_A].n == 1 && page->spec->sides[CTX_COMPARE_B].n == 1;
	struct ctx_out *out = &page->out;
	const struct ctx_cell cells[] = {
		ctx_cell_name(single ? "Student's t, Benjamini-Hochberg"
				     : ctx_out_format(out,
						      "Student's t, Benjamini-Hochberg, permutation of %ss",
						      side_unit(page))),
		ctx_cell_name(single ? "block" : side_unit(page)),
		ctx_cell_number(page->diff.n_tested),
		ctx_cell_figure(ctx_out_format(out, "%g", CTX_DIFF_RATE)),
		single ? ctx_cell_figure(ctx_out_format(out, "%g", CTX_DIFF_NOISE)) : ctx_cell_name(NULL),
		single ? ctx_cell_name(NULL) : ctx_cell_number(page->diff.n_splits)};

	ctx_out_map(out, "test", columns, CTX_COUNT_OF(columns), cells);
}

static void put_detectable(struct ctx_diff_page *page)
{
	static const struct ctx_column columns[] = {{"change", NULL, CTX_STYLE_COUNT},
						    {"change_percent", NULL, CTX_STYLE_COUNT},
						    {"power", NULL, CTX_STYLE_COUNT}};
	double least = page->diff.total.detectable;
	const struct ctx_cell cells[] = {
		weight_cell(page, least, false),
		percent_cell(page, least, page->diff.sides[CTX_COMPARE_A].weight, "%.4f"),
		ctx_cell_figure("0.8")};

	ctx_out_map(&page->out, "detectable", columns, CTX_COUNT_OF(columns), cells);
}

void ctx_diff_page_put_lists(struct ctx_diff_page *page)
{
	static const struct ctx_column columns[] = {{"kind", NULL, CTX_STYLE_NAME},
						    {"function", NULL, CTX_STYLE_NAME}};

	if (!ctx_out_has_lists(&page->out))
		return;
	ctx_out_map(&page->out, "weights", columns, CTX_COUNT_OF(columns),
		    (struct ctx_cell[]){ctx_cell_name(ctx_weights_word(page->spec->weighting.weights)),
					ctx_cell_name(page->spec->weighting.function)});
	ctx_out_list_begin(&page->out, "sides");
	for (enum ctx_compare_side side = CTX_COMPARE_A; side < CTX_COMPARE_SIDES; side++)
		put_side_row(page, side);
	ctx_out_list_end(&page->out);
	put_test(page);
	put_detectable(page);
}
