/*
 * Parts of the screens of a recording and of a comparison. What cannot be put makes ctx_canvas_check fail.
 */
#ifndef CTX_BROWSE_DRAW_PARTS_H
#define CTX_BROWSE_DRAW_PARTS_H

#include "browse/canvas.h"
#include "browse/prompt.h"

#include <stdbool.h>

/* The text, zero-terminated from here on and borrowed; "" if memory was short. */
const char *ctx_draw_take(struct ctx_buf *text, struct ctx_canvas *canvas);

/* Appends a name of any bytes in safe characters (report/names.h), cut to `width` columns. */
void ctx_draw_put_name(struct ctx_buf *text, const char *name, size_t width, bool ascii);

/* Puts a text of ASCII at the end of a line, unless the line is too short. */
void ctx_draw_at_end(struct ctx_canvas *canvas, unsigned row, enum ctx_look look, const char *text);

/* Puts a line of what is asked, which `text` has, and what has been typed, with the cursor. Uses `text` up. */
void ctx_draw_prompt(struct ctx_canvas *canvas, unsigned row, struct ctx_buf *text,
		     const struct ctx_prompt *prompt, bool ascii);

/* In place of everything else. */
void ctx_draw_too_small(struct ctx_canvas *canvas);

#endif
