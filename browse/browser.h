/*
 * The state of the browser, and what keys do to it. No curses: tests press keys and read the canvas.
 */
#ifndef CTX_BROWSE_BROWSER_H
#define CTX_BROWSE_BROWSER_H

#include "browse/brush.h"
#include "browse/keys.h"
#include "browse/layout.h"
#include "browse/pane.h"
#include "browse/prompt.h"
#include "browse/timeline_strip.h"

enum ctx_browser_pane {
	CTX_BROWSER_FUNCTIONS,
	CTX_BROWSER_TREE,
	CTX_BROWSER_CALLERS,
	CTX_BROWSER_WAITS,
	CTX_BROWSER_THREADS,
	CTX_BROWSER_SOURCE,
	CTX_BROWSER_INSTRUCTIONS,
	CTX_BROWSER_CHART,
	CTX_BROWSER_PANES,
};

/* What the line at the bottom asks for. */
enum ctx_browser_question {
	CTX_ASKS_NOTHING,
	CTX_ASKS_SEARCH,
	CTX_ASKS_INTERVAL,
	CTX_ASKS_FORMAT,
	CTX_ASKS_FILE,
	CTX_ASKS_REPLACE, /* a file that exists: y or n */
};

struct ctx_browser {
	const struct ctx_browse_host *host;
	struct ctx_browse_data data;
	struct ctx_brush brush;
	struct ctx_layout layout;
	struct ctx_pane panes[CTX_BROWSER_PANES];
	struct ctx_pane compare; /* in place of functions, while there is a base */
	struct ctx_pane list;	 /* in front of the pane; its kind NULL: none */
	enum ctx_browser_pane shown;
	struct ctx_timeline_strip strip;
	enum ctx_browser_question question;
	struct ctx_prompt prompt;
	char search[CTX_PROMPT_MAX];
	char format[CTX_PROMPT_MAX];
	char message[CTX_ERR_MAX]; /* until the next key; "" none */
	bool is_error;		   /* of the message */
	bool is_dragging;	   /* the mouse, from a column of the time line */
	unsigned drag_from;
	bool quits, redraws;
};

CTX_MUST_CHECK enum ctx_status ctx_browser_init(struct ctx_browser *browser,
						const struct ctx_browse_host *host, bool ascii,
						struct ctx_err *err);
void ctx_browser_deinit(struct ctx_browser *browser);

void ctx_browser_resize(struct ctx_browser *browser, unsigned rows, unsigned columns);

/* Work that goes on while no key is pressed: counting addresses for the pane that is shown. */
bool ctx_browser_has_work(const struct ctx_browser *browser);
CTX_MUST_CHECK enum ctx_status ctx_browser_work(struct ctx_browser *browser, struct ctx_err *err);

/* The pane, or the list in front of it. */
struct ctx_pane *ctx_browser_pane(struct ctx_browser *browser);

/* A message until the next key. */
void ctx_browser_say(struct ctx_browser *browser, bool is_error, const char *fmt, ...) CTX_PRINTF(3, 4);

/* The interval, the thread or the metric has changed. */
void ctx_browser_select(struct ctx_browser *browser);

/* Searches for browser->search. */
CTX_MUST_CHECK enum ctx_status ctx_browser_find(struct ctx_browser *browser, bool backward, bool here,
						struct ctx_err *err);

#endif
