/*
 * What keys and the mouse do to the browser.
 */
#ifndef CTX_BROWSE_BROWSER_KEYS_H
#define CTX_BROWSE_BROWSER_KEYS_H

#include "browse/browser.h"

struct ctx_browser_event {
	uint32_t key;	      /* a character or enum ctx_key */
	unsigned row, column; /* of the mouse */
};

/* What fails is the browser's message; only CTX_E_NOMEM is returned. */
CTX_MUST_CHECK enum ctx_status ctx_browser_press(struct ctx_browser *browser,
						 const struct ctx_browser_event *event, struct ctx_err *err);

#endif
