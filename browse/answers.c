#include "browse/answers.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static void ask(struct ctx_browser *browser, enum ctx_browser_question question, const char *text)
{
	browser->question = question;
	ctx_prompt_begin(&browser->prompt, text);
}

static void answer_interval(struct ctx_browser *browser)
{
	struct ctx_interval interval;
	struct ctx_err why = {0};

	if (ctx_interval_parse(browser->prompt.text, browser->host->profile->run, &interval, &why) !=
	    CTX_OK) {
		ctx_browser_say(browser, true, "%s", why.msg);
		return;
	}
	if (ctx_brush_set(&browser->brush, interval))
		ctx_browser_select(browser);
}

/* Exact, or the only one that begins so. */
static const char *find_format(const struct ctx_browser *browser, const char *text)
{
	const char *const *formats = browser->host->formats;
	const char *found = NULL;

	for (size_t i = 0; formats[i] != NULL; i++) {
		if (strcmp(formats[i], text) == 0)
			return formats[i];
		if (strncmp(formats[i], text, strlen(text)) != 0)
			continue;
		if (found != NULL)
			return NULL;
		found = formats[i];
	}
	return found;
}

static void answer_format(struct ctx_browser *browser)
{
	const char *format = find_format(browser, browser->prompt.text);

	if (format == NULL) {
		ctx_browser_say(browser, true, "no format '%s'", browser->prompt.text);
		return;
	}
	snprintf(browser->format, sizeof(browser->format), "%s", format);
	ask(browser, CTX_ASKS_FILE, "");
}

static void write_export(struct ctx_browser *browser)
{
	const struct ctx_browse_selection selection = {.interval = browser->data.interval,
						       .thread = browser->data.thread,
						       .metrics = &browser->data.metric,
						       .n_metrics = 1};
	struct ctx_err why = {0};
	enum ctx_status status = browser->host->export(browser->host->context, &selection, browser->format,
						       browser->prompt.text, &why);

	if (status == CTX_OK)
		ctx_browser_say(browser, false, "written: %s", browser->prompt.text);
	else
		ctx_browser_say(browser, true, "%s", why.msg);
}

static void answer_file(struct ctx_browser *browser)
{
	if (browser->prompt.n == 0)
		ctx_browser_say(browser, true, "not exported: no file name");
	else if (access(browser->prompt.text, F_OK) == 0)
		browser->question = CTX_ASKS_REPLACE;
	else
		write_export(browser);
}

enum ctx_status ctx_browser_answer(struct ctx_browser *browser, struct ctx_err *err)
{
	enum ctx_browser_question question = browser->question;

	browser->question = CTX_ASKS_NOTHING;
	switch (question) {
	case CTX_ASKS_SEARCH:
		snprintf(browser->search, sizeof(browser->search), "%s", browser->prompt.text);
		return ctx_browser_find(browser, false, true, err);
	case CTX_ASKS_INTERVAL:
		answer_interval(browser);
		break;
	case CTX_ASKS_FORMAT:
		answer_format(browser);
		break;
	case CTX_ASKS_FILE:
		answer_file(browser);
		break;
	case CTX_ASKS_REPLACE:
		write_export(browser);
		break;
	case CTX_ASKS_NOTHING:
		break;
	}
	return CTX_OK;
}
