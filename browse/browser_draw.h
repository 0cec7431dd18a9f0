/*
 * The browser's screen.
 */
#ifndef CTX_BROWSE_BROWSER_DRAW_H
#define CTX_BROWSE_BROWSER_DRAW_H

#include "browse/browser.h"
#include "browse/canvas.h"

/* Loads what is shown, and draws it. */
CTX_MUST_CHECK enum ctx_status ctx_browser_draw(struct ctx_browser *browser, struct ctx_canvas *canvas,
						struct ctx_err *err);

#endif
