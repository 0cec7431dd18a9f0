/*
 * The terminal: draws a canvas, reads keys and the mouse. The only file that knows curses.
 */
#ifndef CTX_BROWSE_SCREEN_H
#define CTX_BROWSE_SCREEN_H

#include "browse/canvas.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_screen;

struct ctx_screen_event {
	uint32_t key;	      /* enum ctx_key or a character; 0: none came */
	unsigned row, column; /* of the mouse */
	bool is_gone;	      /* the terminal: no key will come */
};

/* Whether there is a terminal for ctx_screen_open: CTX_E_ARG. */
CTX_MUST_CHECK enum ctx_status ctx_screen_check(struct ctx_err *err);

/*
 * Takes the terminal of standard input and output. CTX_E_ARG: they are none, or of an unknown type. One
 * at a time.
 */
CTX_MUST_CHECK enum ctx_status ctx_screen_open(bool color, struct ctx_screen **ret, struct ctx_err *err);

/* Gives it back as it was. */
void ctx_screen_close(struct ctx_screen *screen);

void ctx_screen_size(unsigned *ret_rows, unsigned *ret_columns);

/* `whole`: every character is sent again. */
void ctx_screen_draw(struct ctx_screen *screen, const struct ctx_canvas *canvas, bool whole);

/* Waits for a key, or a signal, which gives none; or does not wait. */
struct ctx_screen_event ctx_screen_read(struct ctx_screen *screen, bool wait);

#endif
