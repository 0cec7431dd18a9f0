/*
 * How text is printed: its width, characters and colours, by the terminal, the locale and the
 * environment.
 */
#ifndef CTX_CTXAN_TERMINAL_H
#define CTX_CTXAN_TERMINAL_H

#include "ctxan/options.h"

/* Sets report.width (unless given), report.ascii and report.color, and the locale. */
void ctx_terminal_choose(struct ctx_options *options);

#endif
