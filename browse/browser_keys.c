#include "browse/browser_keys.h"

#include "base/mem.h"
#include "browse/answers.h"
#include "browse/list_keys.h"

#include <string.h>

static void close_list(struct ctx_browser *browser)
{
	ctx_pane_close(&browser->list);
}

static void open_list(struct ctx_browser *browser, const struct ctx_pane_kind *kind)
{
	close_list(browser);
	browser->list = (struct ctx_pane){.kind = kind, .data = &browser->data};
}

static void show(struct ctx_browser *browser, unsigned pane)
{
	close_list(browser);
	if (pane < CTX_BROWSER_PANES)
		browser->shown = (enum ctx_browser_pane)pane;
}

/* Callers, source and instructions are of this function. */
static void set_subject(struct ctx_browser *browser, uint32_t function)
{
	static const enum ctx_browser_pane of_subject[] = {CTX_BROWSER_CALLERS, CTX_BROWSER_SOURCE,
							   CTX_BROWSER_INSTRUCTIONS};

	if (function == CTX_NONE || function == browser->data.subject)
		return;
	browser->data.subject = function;
	for (size_t i = 0; i < CTX_COUNT_OF(of_subject); i++) {
		ctx_pane_forget(&browser->panes[of_subject[i]]);
		browser->panes[of_subject[i]].was_moved = false;
	}
}

/* The function of the row, or of the first pane's row. */
static enum ctx_status take_subject(struct ctx_browser *browser, struct ctx_err *err)
{
	struct ctx_pane *functions = &browser->panes[CTX_BROWSER_FUNCTIONS];
	uint32_t function = ctx_pane_function(ctx_browser_pane(browser));
	enum ctx_status status = CTX_OK;

	if (function == CTX_NONE && browser->data.subject == CTX_NONE) {
		status = ctx_pane_load(functions, err);
		function = status == CTX_OK ? ctx_pane_function(functions) : CTX_NONE;
	}
	set_subject(browser, function);
	return status;
}

static enum ctx_status show_of_subject(struct ctx_browser *browser, enum ctx_browser_pane pane,
				       struct ctx_err *err)
{
	enum ctx_status status = browser->shown == pane && browser->list.kind == NULL &&
						 browser->data.subject != CTX_NONE &&
						 pane != CTX_BROWSER_CALLERS
					 ? CTX_OK
					 : take_subject(browser, err);

	show(browser, pane);
	return status;
}

static bool is_of_subject(unsigned pane)
{
	return pane == CTX_BROWSER_CALLERS || pane == CTX_BROWSER_SOURCE || pane == CTX_BROWSER_INSTRUCTIONS;
}

static enum ctx_status show_number(struct ctx_browser *browser, unsigned pane, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (is_of_subject(pane) && !is_of_subject(browser->shown))
		status = take_subject(browser, err);
	show(browser, pane);
	return status;
}

static void select_thread(struct ctx_browser *browser, uint32_t thread)
{
	struct ctx_browse_data *data = &browser->data;

	if (data->thread == thread)
		return;
	ctx_browse_data_select(data, data->interval, thread, data->metric);
	ctx_browser_select(browser);
}

static void select_metric(struct ctx_browser *browser, uint32_t metric)
{
	struct ctx_browse_data *data = &browser->data;

	ctx_browse_data_select(data, data->interval, data->thread, metric);
	ctx_browser_select(browser);
}

/* Its interval is selected. */
static enum ctx_status open_call(struct ctx_browser *browser, struct ctx_pane *pane, struct ctx_err *err)
{
	struct ctx_interval interval;
	struct ctx_buf words CTX_AUTO_BUF = {0};
	struct ctx_err why = {0};
	enum ctx_status status = ctx_pane_chart_call(pane, &interval, &words, &why);

	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK) {
		ctx_browser_say(browser, true, "%s", why.msg);
		return CTX_OK;
	}
	if (ctx_brush_set(&browser->brush, interval))
		ctx_browser_select(browser);
	ctx_browser_say(browser, false, "%.*s", (int)words.n, (const char *)words.bytes);
	return CTX_OK;
}

static enum ctx_status open_row(struct ctx_browser *browser, struct ctx_err *err)
{
	struct ctx_pane *pane = ctx_browser_pane(browser);
	size_t row = pane->list.selected;

	if (row >= pane->n_rows) {
		close_list(browser);
		return CTX_OK;
	}
	if (pane->kind == &ctx_pane_metrics)
		select_metric(browser, (uint32_t)row);
	if (pane == &browser->list) {
		close_list(browser);
		return CTX_OK;
	}
	if (pane->kind == &ctx_pane_threads) {
		uint32_t thread = ctx_pane_thread(pane, row);

		select_thread(browser, thread == browser->data.thread ? CTX_NONE : thread);
		return CTX_OK;
	}
	if (pane->kind == &ctx_pane_chart)
		return open_call(browser, pane, err);
	if (pane->kind->unfold != NULL) {
		pane->kind->unfold(pane, CTX_UNFOLD_TOGGLE);
		return CTX_OK;
	}
	return pane->kind->function != NULL ? show_of_subject(browser, CTX_BROWSER_SOURCE, err) : CTX_OK;
}

/* ---- keys ---- */

static void move(struct ctx_browser *browser, long by)
{
	struct ctx_pane *pane = ctx_browser_pane(browser);

	if (ctx_list_move(&pane->list, by))
		pane->was_moved = true;
}

static void unfold(struct ctx_browser *browser, enum ctx_pane_unfold how)
{
	struct ctx_pane *pane = ctx_browser_pane(browser);

	if (pane->kind->unfold != NULL && pane->kind->unfold(pane, how))
		pane->was_moved = true;
}

static void ask(struct ctx_browser *browser, enum ctx_browser_question question, const char *text)
{
	browser->question = question;
	ctx_prompt_begin(&browser->prompt, text);
}

static void compare(struct ctx_browser *browser)
{
	struct ctx_browse_data *data = &browser->data;

	data->has_base = !data->has_base;
	data->base = data->interval;
	ctx_pane_forget(&browser->compare);
	show(browser, CTX_BROWSER_FUNCTIONS);
	ctx_browser_say(browser, false,
			data->has_base ? "this interval is the base: select another one"
				       : "the base is forgotten");
}

static void step(struct ctx_browser *browser, enum ctx_brush_step how)
{
	if (ctx_brush_step(&browser->brush, how, browser->layout.n_line) && how != CTX_BRUSH_ZOOM_IN &&
	    how != CTX_BRUSH_ZOOM_OUT)
		ctx_browser_select(browser);
}

/* Keys of the interval. False: another key. */
static bool act_on_interval(struct ctx_browser *browser, enum ctx_action action)
{
	static const struct {
		enum ctx_action action;
		enum ctx_brush_step step;
	} steps[] = {
		{CTX_ACTION_EARLIER, CTX_BRUSH_EARLIER},
		{CTX_ACTION_LATER, CTX_BRUSH_LATER},
		{CTX_ACTION_NARROWER, CTX_BRUSH_NARROWER},
		{CTX_ACTION_WIDER, CTX_BRUSH_WIDER},
		{CTX_ACTION_BEGIN_EARLIER, CTX_BRUSH_BEGIN_EARLIER},
		{CTX_ACTION_BEGIN_LATER, CTX_BRUSH_BEGIN_LATER},
		{CTX_ACTION_END_EARLIER, CTX_BRUSH_END_EARLIER},
		{CTX_ACTION_END_LATER, CTX_BRUSH_END_LATER},
		{CTX_ACTION_WHOLE, CTX_BRUSH_WHOLE},
		{CTX_ACTION_UNDO, CTX_BRUSH_UNDO},
		{CTX_ACTION_ZOOM_IN, CTX_BRUSH_ZOOM_IN},
		{CTX_ACTION_ZOOM_OUT, CTX_BRUSH_ZOOM_OUT},
	};

	for (size_t i = 0; i < CTX_COUNT_OF(steps); i++) {
		if (steps[i].action != action)
			continue;
		step(browser, steps[i].step);
		return true;
	}
	if (action == CTX_ACTION_INTERVAL)
		ask(browser, CTX_ASKS_INTERVAL, "");
	else if (action == CTX_ACTION_BRUSH)
		ctx_brush_begin(&browser->brush, browser->layout.n_line);
	else
		return false;
	return true;
}

/* Keys that move in the rows. False: another key. */
static bool act_on_rows(struct ctx_browser *browser, enum ctx_action action)
{
	struct ctx_pane *pane = ctx_browser_pane(browser);
	bool moved = false;

	if (ctx_list_act(&pane->list, action, &moved)) {
		pane->was_moved |= moved;
		return true;
	}
	switch (action) {
	case CTX_ACTION_EXPAND:
		unfold(browser, CTX_UNFOLD_OPEN);
		return true;
	case CTX_ACTION_COLLAPSE:
		unfold(browser, CTX_UNFOLD_CLOSE);
		return true;
	case CTX_ACTION_EXPAND_ALL:
		unfold(browser, CTX_UNFOLD_ALL);
		return true;
	default:
		return false;
	}
}

static enum ctx_status act_on_panes(struct ctx_browser *browser, enum ctx_action action, uint32_t key,
				    struct ctx_err *err)
{
	switch (action) {
	case CTX_ACTION_PANE:
		return show_number(browser, key - '1', err);
	case CTX_ACTION_NEXT_PANE:
		return show_number(browser, (browser->shown + 1u) % CTX_BROWSER_PANES, err);
	case CTX_ACTION_PREVIOUS_PANE:
		return show_number(browser, (browser->shown + CTX_BROWSER_PANES - 1u) % CTX_BROWSER_PANES,
				   err);
	case CTX_ACTION_OPEN:
		return open_row(browser, err);
	case CTX_ACTION_CALLERS:
		return show_of_subject(browser, CTX_BROWSER_CALLERS, err);
	case CTX_ACTION_SOURCE:
		return show_of_subject(browser, CTX_BROWSER_SOURCE, err);
	case CTX_ACTION_INSTRUCTIONS:
		return show_of_subject(browser, CTX_BROWSER_INSTRUCTIONS, err);
	case CTX_ACTION_SEARCH_NEXT:
	case CTX_ACTION_SEARCH_PREVIOUS:
		return ctx_browser_find(browser, action == CTX_ACTION_SEARCH_PREVIOUS, false, err);
	default:
		return CTX_OK;
	}
}

static void act_on_rest(struct ctx_browser *browser, enum ctx_action action)
{
	switch (action) {
	case CTX_ACTION_QUIT:
		browser->quits = true;
		break;
	case CTX_ACTION_HELP:
		open_list(browser, &ctx_pane_help);
		break;
	case CTX_ACTION_NOTES:
		open_list(browser, &ctx_pane_notes);
		break;
	case CTX_ACTION_METRICS:
		open_list(browser, &ctx_pane_metrics);
		break;
	case CTX_ACTION_THREADS:
		show(browser, CTX_BROWSER_THREADS);
		break;
	case CTX_ACTION_ALL_THREADS:
		select_thread(browser, CTX_NONE);
		break;
	case CTX_ACTION_SEARCH:
		ask(browser, CTX_ASKS_SEARCH, "");
		break;
	case CTX_ACTION_COMPARE:
		compare(browser);
		break;
	case CTX_ACTION_EXPORT:
		ask(browser, CTX_ASKS_FORMAT, "html");
		break;
	case CTX_ACTION_CANCEL:
		close_list(browser);
		break;
	case CTX_ACTION_REDRAW:
		browser->redraws = true;
		break;
	default:
		break;
	}
}

/* While a question is open. */
static enum ctx_status type(struct ctx_browser *browser, uint32_t key, struct ctx_err *err)
{
	if (browser->question == CTX_ASKS_REPLACE) {
		if (key == 'y' || key == 'Y')
			return ctx_browser_answer(browser, err);
		browser->question = CTX_ASKS_NOTHING;
		ctx_browser_say(browser, false, "not exported");
		return CTX_OK;
	}
	if (key == CTX_KEY_ENTER || key == '\r')
		return ctx_browser_answer(browser, err);
	if (key == CTX_KEY_ESCAPE) {
		browser->question = CTX_ASKS_NOTHING;
		return CTX_OK;
	}
	ctx_prompt_type(&browser->prompt, key);
	return CTX_OK;
}

/* While the interval is brushed by keys. */
static void brush(struct ctx_browser *browser, uint32_t key)
{
	struct ctx_brush *brush = &browser->brush;
	unsigned columns = browser->layout.n_line;
	int by = 0;

	switch (key) {
	case CTX_KEY_LEFT:
	case 'h':
		by = -1;
		break;
	case CTX_KEY_RIGHT:
	case 'l':
		by = 1;
		break;
	case CTX_KEY_HOME:
		by = -(int)columns;
		break;
	case CTX_KEY_END:
		by = (int)columns;
		break;
	case ' ':
		ctx_brush_mark(brush);
		break;
	case CTX_KEY_ENTER:
	case '\r':
		ctx_brush_accept(brush);
		return;
	case CTX_KEY_ESCAPE:
	case 'q':
		ctx_brush_cancel(brush);
		ctx_browser_select(browser);
		return;
	default:
		return;
	}
	if (ctx_brush_move(brush, by, columns))
		ctx_browser_select(browser);
}

/* ---- the mouse ---- */

static enum ctx_status press_tab(struct ctx_browser *browser, unsigned column, struct ctx_err *err)
{
	unsigned at = 0;

	for (unsigned i = 0; i < CTX_BROWSER_PANES; i++) {
		at += CTX_TAB_WIDTH(browser->panes[i].kind->title);
		if (column < at)
			return show_number(browser, i, err);
	}
	return CTX_OK;
}

static void press_line(struct ctx_browser *browser, const struct ctx_browser_event *event)
{
	browser->is_dragging = true;
	browser->drag_from = event->column > browser->layout.line ? event->column - browser->layout.line : 0;
}

static void release(struct ctx_browser *browser, const struct ctx_browser_event *event)
{
	const struct ctx_layout *layout = &browser->layout;
	unsigned to = event->column > layout->line ? event->column - layout->line : 0;

	if (!browser->is_dragging)
		return;
	browser->is_dragging = false;
	to = to < layout->n_line ? to : layout->n_line - 1;
	if (ctx_brush_set(&browser->brush,
			  ctx_brush_between(&browser->brush, browser->drag_from, to, layout->n_line)))
		ctx_browser_select(browser);
}

static enum ctx_status point(struct ctx_browser *browser, const struct ctx_browser_event *event,
			     struct ctx_err *err)
{
	const struct ctx_layout *layout = &browser->layout;
	struct ctx_pane *pane = ctx_browser_pane(browser);

	if (event->key == CTX_KEY_WHEEL_UP || event->key == CTX_KEY_WHEEL_DOWN) {
		if (ctx_list_scroll(&pane->list, event->key == CTX_KEY_WHEEL_UP ? -3 : 3))
			pane->was_moved = true;
	} else if (event->key == CTX_KEY_RELEASE) {
		release(browser, event);
	} else if (event->row >= layout->load && event->row <= layout->axis) {
		press_line(browser, event);
	} else if (event->row == layout->tabs) {
		return press_tab(browser, event->column, err);
	} else if (event->row >= layout->table && event->row < layout->table + layout->n_table) {
		size_t row = pane->list.top + event->row - layout->table;

		if (row < pane->n_rows)
			move(browser, (long)row - (long)pane->list.selected);
	}
	return CTX_OK;
}

static bool is_mouse(uint32_t key)
{
	return key == CTX_KEY_PRESS || key == CTX_KEY_RELEASE || key == CTX_KEY_WHEEL_UP ||
	       key == CTX_KEY_WHEEL_DOWN;
}

enum ctx_status ctx_browser_press(struct ctx_browser *browser, const struct ctx_browser_event *event,
				  struct ctx_err *err)
{
	enum ctx_action action = ctx_key_action(event->key);
	enum ctx_status status;

	if (browser->layout.is_too_small) {
		browser->quits = action == CTX_ACTION_QUIT;
		return CTX_OK;
	}
	browser->message[0] = '\0';
	if (browser->question != CTX_ASKS_NOTHING && !is_mouse(event->key))
		return type(browser, event->key, err);
	if (is_mouse(event->key))
		return point(browser, event, err);
	if (browser->brush.is_brushing) {
		brush(browser, event->key);
		return CTX_OK;
	}
	if (act_on_interval(browser, action))
		return CTX_OK;
	/* Keys that came together are taken before anything is drawn. */
	ctx_browser_pane(browser)->list.height = browser->layout.n_table;
	status = ctx_pane_load(ctx_browser_pane(browser), err);
	if (status != CTX_OK || act_on_rows(browser, action))
		return status;
	act_on_rest(browser, action);
	return act_on_panes(browser, action, event->key, err);
}
