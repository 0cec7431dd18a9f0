#include "browse/browse.h"

#include "browse/browser.h"
#include "browse/browser_draw.h"
#include "browse/browser_keys.h"
#include "browse/rescue.h"
#include "browse/screen.h"

#include <signal.h>

static enum ctx_status draw(struct ctx_browser *browser, struct ctx_screen *screen, struct ctx_canvas *canvas,
			    struct ctx_err *err)
{
	enum ctx_status status = ctx_browser_draw(browser, canvas, err);

	if (status == CTX_OK)
		ctx_screen_draw(screen, canvas, browser->redraws);
	browser->redraws = false;
	return status;
}

static enum ctx_status take(struct ctx_browser *browser, const struct ctx_screen_event *event,
			    struct ctx_err *err)
{
	const struct ctx_browser_event given = {event->key, event->row, event->column};
	unsigned rows, columns;

	if (event->key != CTX_KEY_RESIZE)
		return ctx_browser_press(browser, &given, err);
	ctx_screen_size(&rows, &columns);
	ctx_browser_resize(browser, rows, columns);
	return CTX_OK;
}

/* All keys that came are taken before the screen is drawn: one that is held down does not queue up. */
static enum ctx_status run(struct ctx_browser *browser, struct ctx_screen *screen, struct ctx_err *err)
{
	struct ctx_canvas canvas CTX_CLEANUP(ctx_canvas_deinit) = {0};
	enum ctx_status status = draw(browser, screen, &canvas, err);

	while (status == CTX_OK && !browser->quits && ctx_rescue_signal() == 0) {
		bool works = ctx_browser_has_work(browser);
		struct ctx_screen_event event = ctx_screen_read(screen, !works);

		if (event.is_gone)
			break;
		if (event.key == 0 && works)
			status = ctx_browser_work(browser, err);
		while (event.key != 0 && status == CTX_OK && !browser->quits) {
			status = take(browser, &event, err);
			event = ctx_screen_read(screen, false);
		}
		if (status == CTX_OK && !browser->quits && ctx_rescue_signal() == 0)
			status = draw(browser, screen, &canvas, err);
	}
	return status;
}

enum ctx_status ctx_browse(const struct ctx_browse_host *host, const struct ctx_browse_options *options,
			   struct ctx_err *err)
{
	struct ctx_browser browser;
	struct ctx_screen *screen;
	unsigned rows, columns;
	int number;
	enum ctx_status status = ctx_screen_open(options->color, &screen, err);

	if (status != CTX_OK)
		return status;
	status = ctx_browser_init(&browser, host, options->ascii, err);
	ctx_screen_size(&rows, &columns);
	ctx_browser_resize(&browser, rows, columns);
	if (status == CTX_OK)
		status = run(&browser, screen, err);
	ctx_browser_deinit(&browser);
	number = ctx_rescue_signal();
	ctx_screen_close(screen);
	/* Who started the program is to see what ended it. */
	if (number != 0)
		(void)raise(number);
	return status;
}

enum ctx_status ctx_browse_check(struct ctx_err *err)
{
	return ctx_screen_check(err);
}
