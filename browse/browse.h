/*
 * The browser in the terminal: a time line with an interval, and panes that follow it.
 *
 *	host --open--> struct ctx_report_source --> panes (rows) --> canvas (lines of a screen) --> terminal
 *	keys, mouse <------------------------------------------------------------------------------'
 *
 *	pure: brush.h (interval), list.h (selection, scroll, search), outline.h (expanding), layout.h,
 *	prompt.h, keys.h, list_keys.h, canvas.h. panes: pane.h. The state: browser.h; of a comparison: sides.h. The loop:
 *	program.h. curses: screen.h, rescue.h.
 */
#ifndef CTX_BROWSE_BROWSE_H
#define CTX_BROWSE_BROWSE_H

#include "browse/host.h"

#include <stdbool.h>

struct ctx_browse_options {
	bool ascii, color;
};

/* CTX_E_ARG: standard input and output are no terminal, or one of an unknown type. */
CTX_MUST_CHECK enum ctx_status ctx_browse_check(struct ctx_err *err);

/*
 * Shows the recording on the terminal of standard input and output until the user quits. CTX_E_ARG:
 * there is no terminal, or its type is unknown. A signal that ends the program leaves the terminal as
 * it was.
 */
CTX_MUST_CHECK enum ctx_status ctx_browse(const struct ctx_browse_host *host,
					  const struct ctx_browse_options *options, struct ctx_err *err);

/* The same of a comparison. Each table is made when it is shown first. */
CTX_MUST_CHECK enum ctx_status ctx_browse_sides(const struct ctx_sides_host *host,
						const struct ctx_browse_options *options,
						struct ctx_err *err);

#endif
