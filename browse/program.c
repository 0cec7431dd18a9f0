#include "browse/program.h"

#include "base/mem.h"
#include "browse/keys.h"
#include "browse/rescue.h"

#include <signal.h>

static enum ctx_status draw(const struct ctx_program *program, struct ctx_screen *screen,
			    struct ctx_canvas *canvas, struct ctx_err *err)
{
	bool whole = false;
	enum ctx_status status = program->draw(program->context, canvas, &whole, err);

	if (status == CTX_OK)
		ctx_screen_draw(screen, canvas, whole);
	return status;
}

static void resize(const struct ctx_program *program)
{
	unsigned rows, columns;

	ctx_screen_size(&rows, &columns);
	program->resize(program->context, rows, columns);
}

static enum ctx_status take(const struct ctx_program *program, const struct ctx_screen_event *event,
			    struct ctx_err *err)
{
	if (event->key != CTX_KEY_RESIZE)
		return program->press(program->context, event, err);
	resize(program);
	return CTX_OK;
}

static bool goes_on(const struct ctx_program *program)
{
	return !program->quits(program->context) && ctx_rescue_signal() == 0;
}

/* All keys that came are taken before the screen is drawn: one that is held down does not queue up. */
static enum ctx_status run(const struct ctx_program *program, struct ctx_screen *screen, struct ctx_err *err)
{
	struct ctx_canvas canvas CTX_CLEANUP(ctx_canvas_deinit) = {0};
	enum ctx_status status = draw(program, screen, &canvas, err);

	while (status == CTX_OK && goes_on(program)) {
		bool works = program->has_work != NULL && program->has_work(program->context);
		struct ctx_screen_event event = ctx_screen_read(screen, !works);

		if (event.is_gone)
			break;
		if (event.key == 0 && works)
			status = program->work(program->context, err);
		while (event.key != 0 && status == CTX_OK && !program->quits(program->context)) {
			status = take(program, &event, err);
			event = ctx_screen_read(screen, false);
		}
		if (status == CTX_OK && goes_on(program))
			status = draw(program, screen, &canvas, err);
	}
	return status;
}

enum ctx_status ctx_program_run(const struct ctx_program *program, bool color, struct ctx_err *err)
{
	struct ctx_screen *screen;
	int number;
	enum ctx_status status = ctx_screen_open(color, &screen, err);

	if (status != CTX_OK)
		return status;
	resize(program);
	status = run(program, screen, err);
	number = ctx_rescue_signal();
	ctx_screen_close(screen);
	/* Who started the program is to see what ended it. */
	if (number != 0)
		(void)raise(number);
	return status;
}
