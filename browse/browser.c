#include "browse/browser.h"

#include "report/names.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define SEARCH_WIDTH 4096u /* columns of a row that are searched */

static const struct ctx_pane_kind *const kinds[CTX_BROWSER_PANES] = {
	[CTX_BROWSER_FUNCTIONS] = &ctx_pane_functions,	     [CTX_BROWSER_TREE] = &ctx_pane_tree,
	[CTX_BROWSER_CALLERS] = &ctx_pane_callers,	     [CTX_BROWSER_WAITS] = &ctx_pane_waits,
	[CTX_BROWSER_THREADS] = &ctx_pane_threads,	     [CTX_BROWSER_SOURCE] = &ctx_pane_source,
	[CTX_BROWSER_INSTRUCTIONS] = &ctx_pane_instructions, [CTX_BROWSER_CHART] = &ctx_pane_chart,
};

enum ctx_status ctx_browser_init(struct ctx_browser *browser, const struct ctx_browse_host *host, bool ascii,
				 struct ctx_err *err)
{
	enum ctx_status status;

	*browser = (struct ctx_browser){.host = host,
					.brush = ctx_brush_make(host->profile->run, host->interval)};
	status = ctx_browse_data_init(&browser->data, host, ascii, err);
	for (unsigned i = 0; i < CTX_BROWSER_PANES; i++)
		browser->panes[i] = (struct ctx_pane){.kind = kinds[i], .data = &browser->data};
	browser->compare = (struct ctx_pane){.kind = &ctx_pane_compare, .data = &browser->data};
	browser->data.interval = browser->brush.now;
	browser->data.functions = &browser->panes[CTX_BROWSER_FUNCTIONS];
	return status;
}

void ctx_browser_deinit(struct ctx_browser *browser)
{
	for (unsigned i = 0; i < CTX_BROWSER_PANES; i++)
		ctx_pane_close(&browser->panes[i]);
	ctx_pane_close(&browser->compare);
	ctx_pane_close(&browser->list);
	ctx_timeline_strip_close(&browser->strip, browser->host);
	ctx_browse_data_deinit(&browser->data);
}

static struct ctx_pane *shown_pane(struct ctx_browser *browser)
{
	if (browser->shown == CTX_BROWSER_FUNCTIONS && browser->data.has_base)
		return &browser->compare;
	return &browser->panes[browser->shown];
}

struct ctx_pane *ctx_browser_pane(struct ctx_browser *browser)
{
	return browser->list.kind != NULL ? &browser->list : shown_pane(browser);
}

void ctx_browser_say(struct ctx_browser *browser, bool is_error, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	vsnprintf(browser->message, sizeof(browser->message), fmt, args);
	va_end(args);
	browser->is_error = is_error;
}

void ctx_browser_resize(struct ctx_browser *browser, unsigned rows, unsigned columns)
{
	browser->layout = ctx_layout_make(rows, columns);
	browser->data.columns = browser->layout.is_too_small ? 0 : browser->layout.n_line;
	ctx_pane_forget(&browser->panes[CTX_BROWSER_CHART]);
	/* A column is another one. */
	browser->is_dragging = false;
	if (browser->brush.is_brushing)
		ctx_brush_accept(&browser->brush);
}

void ctx_browser_select(struct ctx_browser *browser)
{
	struct ctx_browse_data *data = &browser->data;

	ctx_browse_data_select(data, browser->brush.now, data->thread, data->metric);
	for (unsigned i = 0; i < CTX_BROWSER_PANES; i++)
		ctx_pane_forget(&browser->panes[i]);
	ctx_pane_forget(&browser->compare);
}

/* ---- searching ---- */

struct searched {
	struct ctx_pane *pane;
	const char *word;
	struct ctx_buf text;
};

static bool has_word(void *context, size_t row)
{
	struct searched *searched = context;

	ctx_buf_clear(&searched->text);
	searched->pane->kind->put(searched->pane, row, SEARCH_WIDTH, &searched->text);
	ctx_buf_put_u8(&searched->text, '\0');
	return !searched->text.failed &&
	       ctx_text_has_word((const char *)searched->text.bytes, searched->word);
}

enum ctx_status ctx_browser_find(struct ctx_browser *browser, bool backward, bool here, struct ctx_err *err)
{
	struct searched searched = {.pane = ctx_browser_pane(browser), .word = browser->search};
	const struct ctx_list_search search = {
		.match = has_word, .context = &searched, .backward = backward, .here = here};
	enum ctx_status status = ctx_pane_load(searched.pane, err);

	if (status != CTX_OK || browser->search[0] == '\0')
		return status;
	if (ctx_list_find(&searched.pane->list, &search))
		searched.pane->was_moved = true;
	else
		ctx_browser_say(browser, true, "no row has '%s'", browser->search);
	ctx_buf_deinit(&searched.text);
	return CTX_OK;
}

bool ctx_browser_has_work(const struct ctx_browser *browser)
{
	return (browser->shown == CTX_BROWSER_SOURCE || browser->shown == CTX_BROWSER_INSTRUCTIONS) &&
	       !browser->layout.is_too_small && ctx_browse_data_has_work(&browser->data);
}

enum ctx_status ctx_browser_work(struct ctx_browser *browser, struct ctx_err *err)
{
	struct ctx_err why = {0};
	enum ctx_status status = ctx_browse_data_work(&browser->data, &why);

	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK)
		ctx_browser_say(browser, true, "%s", why.msg);
	if (!ctx_browse_data_has_work(&browser->data)) {
		ctx_pane_forget(&browser->panes[CTX_BROWSER_SOURCE]);
		ctx_pane_forget(&browser->panes[CTX_BROWSER_INSTRUCTIONS]);
	}
	return CTX_OK;
}
