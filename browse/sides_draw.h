/*
 * The screen of a comparison's browser.
 */
#ifndef CTX_BROWSE_SIDES_DRAW_H
#define CTX_BROWSE_SIDES_DRAW_H

#include "browse/canvas.h"
#include "browse/sides.h"

/* Makes the table that is shown, and draws the screen. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_sides_draw(struct ctx_sides *sides, struct ctx_canvas *canvas,
					      struct ctx_err *err);

#endif
