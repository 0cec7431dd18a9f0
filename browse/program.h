/*
 * What shows something on the terminal until its user quits: the loop of keys and drawing.
 */
#ifndef CTX_BROWSE_PROGRAM_H
#define CTX_BROWSE_PROGRAM_H

#include "browse/canvas.h"
#include "browse/screen.h"

/* `context` is the first argument of all. */
struct ctx_program {
	void *context;
	void (*resize)(void *context, unsigned rows, unsigned columns); /* before anything else, too */
	/* *ret_whole: all of the screen is to be sent again. */
	enum ctx_status (*draw)(void *context, struct ctx_canvas *canvas, bool *ret_whole,
				struct ctx_err *err);
	enum ctx_status (*press)(void *context, const struct ctx_screen_event *event, struct ctx_err *err);
	bool (*quits)(const void *context);
	bool (*has_work)(const void *context); /* NULL: none */
	enum ctx_status (*work)(void *context, struct ctx_err *err);
};

/*
 * Takes the terminal and gives it back. CTX_E_ARG: there is none, or its type is unknown. A signal that ends the program
 * leaves the terminal as it was.
 */
CTX_MUST_CHECK enum ctx_status ctx_program_run(const struct ctx_program *program, bool color,
					       struct ctx_err *err);

#endif
