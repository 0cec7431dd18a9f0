/*
 * The browser's screen: lines of a canvas.
 */
#include "browse/browser_draw.h"

#include "base/mem.h"
#include "browse/draw_parts.h"
#include "report/figures.h"
#include "report/head.h"
#include "report/names.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define NAME_ROOM 20u /* of the recording, in the title */
#define METRIC_ROOM 16u

static const char keys_line[] =
	"q quit ? help Tab pane Enter open / find i b < > interval t thread m metric d e";

struct drawing {
	struct ctx_browser *browser;
	struct ctx_canvas *canvas;
	struct ctx_buf text; /* of a line */
};

static const char *take(struct drawing *drawing)
{
	return ctx_draw_take(&drawing->text, drawing->canvas);
}

static void put_name(struct drawing *drawing, const char *name, size_t width)
{
	ctx_draw_put_name(&drawing->text, name, width, drawing->browser->data.ascii);
}

/* The last component stays. */
static void put_function(struct drawing *drawing, const char *name, size_t width)
{
	bool ascii = drawing->browser->data.ascii;
	struct ctx_buf safe CTX_AUTO_BUF = {0};

	ctx_name_put_text(&safe, name, ascii);
	ctx_text_shorten(&drawing->text, (const char *)safe.bytes, safe.n, width, ascii);
}

/* "300.000-700.000 of 1001.062 ms" */
static void put_interval(struct drawing *drawing, struct ctx_interval interval)
{
	struct ctx_interval run = drawing->browser->brush.run;
	struct ctx_scale scale = ctx_scale_for(CTX_UNIT_NS, run.end_ns);
	char begin[CTX_FIGURE_MAX], end[CTX_FIGURE_MAX], whole[CTX_FIGURE_MAX];

	ctx_figure_fixed(begin, interval.begin_ns, scale.divisor, scale.digits);
	ctx_figure_fixed(end, interval.end_ns, scale.divisor, scale.digits);
	ctx_figure_fixed(whole, run.end_ns, scale.divisor, scale.digits);
	if (ctx_interval_contains(interval, run))
		ctx_buf_printf(&drawing->text, "whole run, %s %s", whole, scale.unit);
	else
		ctx_buf_printf(&drawing->text, "%s-%s of %s %s", begin, end, whole, scale.unit);
}

static void put_thread(struct drawing *drawing)
{
	const struct ctx_browse_host *host = drawing->browser->host;
	const struct ctx_thread_info *thread =
		ctx_profile_thread(host->profile, drawing->browser->data.thread);
	size_t n = host->threads != NULL ? host->n_threads : host->profile->n_threads;

	if (thread != NULL) {
		ctx_buf_printf(&drawing->text, "thread %" PRId64 " ", thread->tid);
		put_name(drawing, thread->name, 16);
	} else {
		ctx_buf_printf(&drawing->text, n == 1 ? "1 thread" : "all %zu threads", n);
	}
}

static void draw_title(struct drawing *drawing)
{
	const struct ctx_browser *browser = drawing->browser;
	struct ctx_metric_info metric = ctx_head_metric_of(browser->host->profile, browser->data.metric);

	ctx_buf_clear(&drawing->text);
	ctx_buf_put_u8(&drawing->text, ' ');
	put_name(drawing, ctx_name_of_path(browser->host->name), NAME_ROOM);
	ctx_buf_put_text(&drawing->text, "  ");
	put_name(drawing, metric.name, METRIC_ROOM);
	ctx_buf_put_text(&drawing->text, "  ");
	put_interval(drawing, browser->data.interval);
	ctx_buf_put_text(&drawing->text, "  ");
	put_thread(drawing);
	ctx_canvas_line(drawing->canvas, browser->layout.title, CTX_LOOK_BAR, take(drawing));
}

/* ---- where the time went ---- */

static enum ctx_look look_of_state(unsigned state)
{
	if (state >= CTX_STATE_N)
		return CTX_LOOK_DIM;
	if ((CTX_STATES_ON_CPU & CTX_STATE_BIT(state)) != 0)
		return CTX_LOOK_BUSY;
	return state == CTX_STATE_USER_LOCK || state == CTX_STATE_WAIT_CPU ? CTX_LOOK_LOCKS : CTX_LOOK_WAITS;
}

/* Appends a piece to the line of shares, if it has room; returns the next column. */
static unsigned put_piece(struct drawing *drawing, unsigned column, enum ctx_look look)
{
	const struct ctx_browser *browser = drawing->browser;
	const char *text = take(drawing);
	size_t width = ctx_text_width(text, strlen(text));

	if (column + width > browser->layout.columns)
		return column;
	ctx_canvas_put(drawing->canvas, browser->layout.shares, column, look, text);
	return column + (unsigned)width;
}

/* "L user lock 45.20 %", the largest first. */
static void put_state_shares(struct drawing *drawing, const struct ctx_histogram *states, unsigned column)
{
	bool done[CTX_STATE_N] = {false};
	uint64_t whole = 0;
	char figure[CTX_FIGURE_MAX];

	for (unsigned i = 0; i < CTX_STATE_N; i++)
		whole += states[i].weight;
	for (unsigned n = 0; n < CTX_STATE_N && whole != 0; n++) {
		unsigned most = CTX_STATE_N;

		for (unsigned i = 0; i < CTX_STATE_N; i++) {
			if (!done[i] && (most == CTX_STATE_N || states[i].weight > states[most].weight))
				most = i;
		}
		done[most] = true;
		if (states[most].weight < whole / 1000)
			break;
		ctx_figure_percent(figure, states[most].weight, whole, 1);
		ctx_buf_clear(&drawing->text);
		ctx_buf_printf(&drawing->text, "  %c %s %s %%", ctx_state_letter((enum ctx_thread_state)most),
			       ctx_state_text((enum ctx_thread_state)most), figure);
		column = put_piece(drawing, column, look_of_state(most));
	}
}

/* "1.87 CPUs busy"; of what is no time the total. */
static unsigned put_load(struct drawing *drawing, uint64_t weight, struct ctx_interval interval)
{
	struct ctx_metric_info metric =
		ctx_head_metric_of(drawing->browser->host->profile, drawing->browser->data.metric);
	struct ctx_scale scale = ctx_scale_for(metric.unit, weight);
	char figure[CTX_FIGURE_MAX];

	ctx_buf_clear(&drawing->text);
	if (ctx_metric_is_time(&metric)) {
		ctx_figure_fixed(figure, weight, interval.end_ns - interval.begin_ns, 2);
		ctx_buf_printf(&drawing->text, " %s %s", figure,
			       metric.kind == CTX_METRIC_CPU_TIME ? "CPUs busy" : "threads at a time");
	} else {
		ctx_figure_fixed(figure, weight, scale.divisor, scale.digits);
		ctx_buf_printf(&drawing->text, " total %s %s", figure, scale.unit);
	}
	return put_piece(drawing, 0, CTX_LOOK_PLAIN);
}

/* The letters of the time line. */
static void put_letters(struct drawing *drawing, unsigned column)
{
	const struct ctx_browser *browser = drawing->browser;
	const struct ctx_strips *strips = &browser->strip.strips;

	for (unsigned i = 0; i < strips->n_letters && column + 12 < browser->layout.columns; i++) {
		ctx_buf_clear(&drawing->text);
		ctx_buf_printf(&drawing->text, "  %c ", 'A' + (int)i);
		put_function(drawing, browser->host->profile->functions[strips->functions[i]].name, 20);
		column = put_piece(drawing, column, CTX_LOOK_BUSY);
	}
}

static enum ctx_status draw_shares(struct drawing *drawing, struct ctx_err *err)
{
	struct ctx_browser *browser = drawing->browser;
	const struct ctx_histogram *states;
	struct ctx_report_source *source;
	struct ctx_report_parts parts;
	unsigned column = 0;
	enum ctx_status status = CTX_OK;

	if (browser->data.has_base) {
		ctx_buf_clear(&drawing->text);
		ctx_buf_put_text(&drawing->text, " compared with base ");
		put_interval(drawing, browser->data.base);
		ctx_buf_put_text(&drawing->text, " (d forgets it)");
		put_piece(drawing, 0, CTX_LOOK_NOTE);
		return CTX_OK;
	}
	status = ctx_browse_data_source(&browser->data, &source, err);
	if (status == CTX_OK)
		status = source->parts(source, &(struct ctx_parts_query){0}, &parts, err);
	if (status != CTX_OK)
		return status;
	column = put_load(drawing, parts.n != 0 ? parts.parts[0].histograms[0].weight : 0,
			  browser->data.interval);
	if (browser->data.state_metrics == NULL) {
		put_letters(drawing, column);
		return CTX_OK;
	}
	status = ctx_browse_data_states(&browser->data, &states, err);
	if (status == CTX_OK)
		put_state_shares(drawing, states, column);
	return status;
}

/* ---- the time line ---- */

/* The columns of the interval, or of what is being brushed. */
static bool brushed_columns(const struct ctx_browser *browser, unsigned *first, unsigned *last)
{
	return ctx_brush_columns(&browser->brush, browser->brush.now, browser->layout.n_line, first, last);
}

static void draw_axis(struct drawing *drawing)
{
	const struct ctx_browser *browser = drawing->browser;
	const struct ctx_layout *layout = &browser->layout;
	bool ascii = browser->data.ascii;
	unsigned first = 0, last = 0;
	bool any = brushed_columns(browser, &first, &last);

	for (unsigned i = 0; i < layout->n_line; i++) {
		bool inside = any && i >= first && i <= last;
		bool marked = ctx_timeline_strip_has_mark(&browser->strip, i);
		const char phase[2] = {ctx_timeline_strip_phase(&browser->strip, i), '\0'};
		const char *text = inside && first == last ? (ascii ? "#" : "█")
				   : inside && i == first  ? (marked && !ascii ? "╟" : "[")
				   : inside && i == last   ? (marked && !ascii ? "╢" : "]")
				   : phase[0] != '\0'	   ? phase
				   : marked		   ? (ascii    ? "|"
							      : inside ? "┷"
								       : "┴")
				   : inside		   ? (ascii ? "=" : "━")
							   : (ascii ? "-" : "─");

		ctx_canvas_put(drawing->canvas, layout->axis, layout->line + i,
			       inside ? CTX_LOOK_BRUSHED : CTX_LOOK_DIM, text);
	}
	ctx_canvas_put(drawing->canvas, layout->axis, 0, CTX_LOOK_DIM,
		       ctx_interval_contains(browser->brush.view, browser->brush.run) ? "time" : "zoomed");
	if (browser->brush.is_brushing) {
		ctx_canvas_put(drawing->canvas, layout->axis, layout->line + browser->brush.cursor,
			       CTX_LOOK_SELECTED, browser->brush.has_anchor ? "+" : "^");
		drawing->canvas->has_cursor = true;
		drawing->canvas->cursor_row = layout->axis;
		drawing->canvas->cursor_column = layout->line + browser->brush.cursor;
	}
}

/* The largest load, which fills a block. */
static void draw_line_labels(struct drawing *drawing)
{
	const struct ctx_browser *browser = drawing->browser;
	char load[CTX_FIGURE_MAX];

	ctx_figure_fixed(load, (uint64_t)(browser->strip.full * 100 + 0.5), 100, 1);
	ctx_buf_clear(&drawing->text);
	ctx_buf_printf(&drawing->text, browser->strip.is_time ? "load %s" : "load", load);
	ctx_canvas_put(drawing->canvas, browser->layout.load, 0, CTX_LOOK_DIM, take(drawing));
	ctx_canvas_put(drawing->canvas, browser->layout.states, 0, CTX_LOOK_DIM,
		       browser->host->profile->has_states ? "state" : "hottest");
}

static enum ctx_status draw_line(struct drawing *drawing, struct ctx_err *err)
{
	struct ctx_browser *browser = drawing->browser;
	const struct ctx_layout *layout = &browser->layout;
	unsigned first = 0, last = 0;
	bool any = brushed_columns(browser, &first, &last);
	enum ctx_status status = ctx_timeline_strip_load(&browser->strip, &browser->data, browser->brush.view,
							 layout->n_line, err);

	if (status != CTX_OK)
		return status;
	draw_line_labels(drawing);
	for (unsigned i = 0; i < layout->n_line; i++) {
		bool inside = any && i >= first && i <= last;
		unsigned state;
		char letter[2] = {
			ctx_timeline_strip_letter(&browser->strip, browser->host->profile, i, &state)};
		enum ctx_look look =
			browser->host->profile->has_states ? look_of_state(state) : CTX_LOOK_BUSY;

		ctx_canvas_put(drawing->canvas, layout->load, layout->line + i,
			       inside ? CTX_LOOK_BRUSHED : CTX_LOOK_DIM,
			       ctx_timeline_strip_block(&browser->strip, i, browser->data.ascii));
		ctx_canvas_put(drawing->canvas, layout->states, layout->line + i,
			       inside ? look : CTX_LOOK_DIM, letter);
	}
	draw_axis(drawing);
	return CTX_OK;
}

/* ---- the pane ---- */

static void draw_tabs(struct drawing *drawing)
{
	struct ctx_browser *browser = drawing->browser;
	unsigned column = 0;

	for (unsigned i = 0; i < CTX_BROWSER_PANES; i++) {
		const char *title = browser->panes[i].kind->title;
		bool shown = i == browser->shown && browser->list.kind == NULL;

		ctx_buf_clear(&drawing->text);
		ctx_buf_printf(&drawing->text, "%u %s", i + 1, title);
		ctx_canvas_put(drawing->canvas, browser->layout.tabs, column + 1,
			       shown ? CTX_LOOK_SELECTED : CTX_LOOK_PLAIN, take(drawing));
		column += CTX_TAB_WIDTH(title);
	}
}

/* Which row of how many is selected, at the end of the tabs. */
static void draw_position(struct drawing *drawing, const struct ctx_pane *pane)
{
	const struct ctx_layout *layout = &drawing->browser->layout;

	if (pane->n_rows <= layout->n_table)
		return;
	ctx_buf_clear(&drawing->text);
	ctx_buf_printf(&drawing->text, "%zu/%zu", pane->list.selected + 1, pane->n_rows);
	ctx_draw_at_end(drawing->canvas, layout->tabs, CTX_LOOK_DIM, take(drawing));
}

/* At the end of the heading, where that has room. */
static void draw_warnings(struct drawing *drawing, size_t used)
{
	const struct ctx_browser *browser = drawing->browser;
	size_t n = ctx_pane_n_notes(&browser->panes[CTX_BROWSER_FUNCTIONS]);

	ctx_buf_clear(&drawing->text);
	ctx_buf_printf(&drawing->text, n == 1 ? " %zu warning: w" : " %zu warnings: w", n);
	if (n != 0 && !drawing->text.failed && used + drawing->text.n <= browser->layout.columns)
		ctx_draw_at_end(drawing->canvas, browser->layout.heading, CTX_LOOK_NOTE, take(drawing));
}

static const char *function_name(const struct ctx_browser *browser)
{
	const struct ctx_browse_data *data = &browser->data;
	const struct ctx_profile *profile = data->has_fold ? &data->fold.profile : browser->host->profile;

	return data->subject < profile->n_functions ? profile->functions[data->subject].name : NULL;
}

/* Of callers: whose. */
static void draw_heading(struct drawing *drawing, const struct ctx_pane *pane)
{
	const struct ctx_browser *browser = drawing->browser;
	const char *name = function_name(browser);
	size_t used;

	ctx_buf_clear(&drawing->text);
	if (pane->message[0] == '\0')
		pane->kind->heading(pane, browser->layout.columns, &drawing->text);
	if (pane->kind == &ctx_pane_callers && pane->message[0] == '\0' && name != NULL) {
		ctx_buf_put_text(&drawing->text, " (callers of ");
		put_function(drawing, name, browser->layout.columns > 60 ? browser->layout.columns - 50 : 10);
		ctx_buf_put_u8(&drawing->text, ')');
	}
	used = drawing->text.n;
	ctx_canvas_line(drawing->canvas, browser->layout.heading, CTX_LOOK_HEADING, take(drawing));
	draw_warnings(drawing, used);
}

static void draw_rows(struct drawing *drawing, const struct ctx_pane *pane)
{
	const struct ctx_layout *layout = &drawing->browser->layout;

	for (unsigned i = 0; i < layout->n_table && pane->list.top + i < pane->n_rows; i++) {
		size_t row = pane->list.top + i;
		enum ctx_look look = row == pane->list.selected ? CTX_LOOK_SELECTED
				     : pane->kind->look != NULL ? pane->kind->look(pane, row)
								: CTX_LOOK_PLAIN;

		ctx_buf_clear(&drawing->text);
		pane->kind->put(pane, row, layout->columns, &drawing->text);
		ctx_canvas_line(drawing->canvas, layout->table + i, look, take(drawing));
	}
	if (pane->n_rows == 0) {
		ctx_buf_clear(&drawing->text);
		ctx_buf_put_u8(&drawing->text, ' ');
		put_name(drawing, pane->message[0] != '\0' ? pane->message : "nothing in this selection",
			 layout->columns - 2);
		ctx_canvas_put(drawing->canvas, layout->table + 1, 1, CTX_LOOK_NOTE, take(drawing));
	}
}

static enum ctx_status draw_pane(struct drawing *drawing, struct ctx_err *err)
{
	struct ctx_browser *browser = drawing->browser;
	struct ctx_pane *pane = ctx_browser_pane(browser);
	enum ctx_status status;

	pane->list.height = browser->layout.n_table;
	status = ctx_pane_load(pane, err);
	if (status != CTX_OK)
		return status;
	ctx_list_fit(&pane->list, pane->n_rows, browser->layout.n_table, pane->list.selected);
	draw_tabs(drawing);
	draw_position(drawing, pane);
	draw_heading(drawing, pane);
	draw_rows(drawing, pane);
	return CTX_OK;
}

/* ---- the line at the bottom ---- */

static void put_question(struct drawing *drawing)
{
	const struct ctx_browser *browser = drawing->browser;

	switch (browser->question) {
	case CTX_ASKS_SEARCH:
		ctx_buf_put_text(&drawing->text, "/");
		break;
	case CTX_ASKS_INTERVAL:
		ctx_buf_put_text(&drawing->text, "interval (300:700, 1.5s:2s, 10%:20%): ");
		break;
	case CTX_ASKS_FORMAT:
		ctx_buf_put_text(&drawing->text, "export as (");
		for (size_t i = 0; browser->host->formats[i] != NULL; i++)
			ctx_buf_printf(&drawing->text, i == 0 ? "%s" : " %s", browser->host->formats[i]);
		ctx_buf_put_text(&drawing->text, "): ");
		break;
	case CTX_ASKS_FILE:
		ctx_buf_printf(&drawing->text, "file for %s: ", browser->format);
		break;
	case CTX_ASKS_REPLACE:
		put_name(drawing, browser->prompt.text, 50);
		ctx_buf_put_text(&drawing->text, " exists. Replace it? (y/n) ");
		break;
	case CTX_ASKS_NOTHING:
		break;
	}
}

static void draw_question(struct drawing *drawing)
{
	const struct ctx_browser *browser = drawing->browser;
	const struct ctx_layout *layout = &browser->layout;
	static const struct ctx_prompt nothing;

	ctx_buf_clear(&drawing->text);
	put_question(drawing);
	/* The file's name is in the question. */
	ctx_draw_prompt(drawing->canvas, layout->keys, &drawing->text,
			browser->question == CTX_ASKS_REPLACE ? &nothing : &browser->prompt,
			browser->data.ascii);
}

static void draw_keys(struct drawing *drawing)
{
	const struct ctx_browser *browser = drawing->browser;

	ctx_buf_clear(&drawing->text);
	if (browser->message[0] != '\0') {
		put_name(drawing, browser->message, browser->layout.columns);
		ctx_canvas_line(drawing->canvas, browser->layout.keys,
				browser->is_error ? CTX_LOOK_NOTE : CTX_LOOK_PLAIN, take(drawing));
		return;
	}
	if (browser->brush.is_brushing)
		ctx_buf_put_text(&drawing->text,
				 "Left Right move  Space begins the interval  Enter ends  Esc leaves it");
	else
		ctx_buf_put_text(&drawing->text, keys_line);
	ctx_canvas_line(drawing->canvas, browser->layout.keys, CTX_LOOK_DIM, take(drawing));
}

static enum ctx_status draw(struct drawing *drawing, struct ctx_err *err)
{
	struct ctx_browser *browser = drawing->browser;
	struct ctx_err why = {0};
	enum ctx_status status = CTX_OK;

	draw_title(drawing);
	/* What the time line cannot show, panes may. */
	status = draw_line(drawing, &why);
	if (status == CTX_OK)
		status = draw_shares(drawing, &why);
	if (status != CTX_OK && status != CTX_E_NOMEM)
		ctx_browser_say(browser, true, "%s", why.msg);
	else if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	status = draw_pane(drawing, err);
	if (browser->question != CTX_ASKS_NOTHING)
		draw_question(drawing);
	else
		draw_keys(drawing);
	return status;
}

enum ctx_status ctx_browser_draw(struct ctx_browser *browser, struct ctx_canvas *canvas, struct ctx_err *err)
{
	struct drawing drawing = {.browser = browser, .canvas = canvas};
	enum ctx_status status = CTX_OK;

	ctx_canvas_begin(canvas, browser->layout.rows, browser->layout.columns);
	if (browser->layout.is_too_small)
		ctx_draw_too_small(canvas);
	else
		status = draw(&drawing, err);
	ctx_buf_deinit(&drawing.text);
	return status == CTX_OK ? ctx_canvas_check(canvas, err) : status;
}
