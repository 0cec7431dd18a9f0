#include "browse/browse.h"

#include "browse/browser.h"
#include "browse/browser_draw.h"
#include "browse/browser_keys.h"
#include "browse/program.h"
#include "browse/sides_draw.h"

/* ---- one recording ---- */

static void resize_browser(void *context, unsigned rows, unsigned columns)
{
	ctx_browser_resize(context, rows, columns);
}

static enum ctx_status draw_browser(void *context, struct ctx_canvas *canvas, bool *ret_whole,
				    struct ctx_err *err)
{
	struct ctx_browser *browser = context;
	enum ctx_status status = ctx_browser_draw(browser, canvas, err);

	*ret_whole = browser->redraws;
	browser->redraws = false;
	return status;
}

static enum ctx_status press_browser(void *context, const struct ctx_screen_event *event, struct ctx_err *err)
{
	const struct ctx_browser_event given = {event->key, event->row, event->column};

	return ctx_browser_press(context, &given, err);
}

static bool quits_browser(const void *context)
{
	return ((const struct ctx_browser *)context)->quits;
}

static bool has_work(const void *context)
{
	return ctx_browser_has_work(context);
}

static enum ctx_status work(void *context, struct ctx_err *err)
{
	return ctx_browser_work(context, err);
}

enum ctx_status ctx_browse(const struct ctx_browse_host *host, const struct ctx_browse_options *options,
			   struct ctx_err *err)
{
	struct ctx_browser browser;
	const struct ctx_program program = {.context = &browser,
					    .resize = resize_browser,
					    .draw = draw_browser,
					    .press = press_browser,
					    .quits = quits_browser,
					    .has_work = has_work,
					    .work = work};
	enum ctx_status status = ctx_browser_init(&browser, host, options->ascii, err);

	if (status == CTX_OK)
		status = ctx_program_run(&program, options->color, err);
	ctx_browser_deinit(&browser);
	return status;
}

/* ---- a comparison ---- */

static void resize_sides(void *context, unsigned rows, unsigned columns)
{
	ctx_sides_resize(context, rows, columns);
}

static enum ctx_status draw_sides(void *context, struct ctx_canvas *canvas, bool *ret_whole,
				  struct ctx_err *err)
{
	struct ctx_sides *sides = context;
	enum ctx_status status = ctx_sides_draw(sides, canvas, err);

	*ret_whole = sides->redraws;
	sides->redraws = false;
	return status;
}

static enum ctx_status press_sides(void *context, const struct ctx_screen_event *event, struct ctx_err *err)
{
	return ctx_sides_press(context, event->key, event->row, event->column, err);
}

static bool quits_sides(const void *context)
{
	return ((const struct ctx_sides *)context)->quits;
}

enum ctx_status ctx_browse_sides(const struct ctx_sides_host *host, const struct ctx_browse_options *options,
				 struct ctx_err *err)
{
	struct ctx_sides sides;
	const struct ctx_program program = {.context = &sides,
					    .resize = resize_sides,
					    .draw = draw_sides,
					    .press = press_sides,
					    .quits = quits_sides};
	enum ctx_status status = ctx_sides_init(&sides, host, options->ascii, err);

	if (status == CTX_OK)
		status = ctx_program_run(&program, options->color, err);
	ctx_sides_deinit(&sides);
	return status;
}

enum ctx_status ctx_browse_check(struct ctx_err *err)
{
	return ctx_screen_check(err);
}
