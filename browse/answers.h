/*
 * Questions of the line at the bottom: their answers.
 */
#ifndef CTX_BROWSE_ANSWERS_H
#define CTX_BROWSE_ANSWERS_H

#include "browse/browser.h"

/* The prompt is the answer to the question. What fails is the browser's message; CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_browser_answer(struct ctx_browser *browser, struct ctx_err *err);

#endif
