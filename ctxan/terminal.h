/*
 * How text is printed: its width, characters and colours, by the terminal, the locale and the
 * environment.
 */
#ifndef CTX_CTXAN_TERMINAL_H
#define CTX_CTXAN_TERMINAL_H

#include "ctxan/options.h"

/* Whether the answer goes to a terminal that can more than print. */
bool ctx_terminal_is_output(const struct ctx_options *options);

/* Sets report.width (unless given), report.ascii and report.color, and the locale. */
void ctx_terminal_choose(struct ctx_options *options);

#endif
