/*
 * --diff --browse: the tables of a comparison in the terminal.
 */
#ifndef CTX_CTXAN_COMPARING_BROWSE_H
#define CTX_CTXAN_COMPARING_BROWSE_H

#include "ctxan/options.h"

/*
 * The tables of --report; without it of functions, tree, callers-callees, objects, threads, states and waits. Errors of
 * ctx_comparing_open and ctx_browse_sides.
 */
CTX_MUST_CHECK enum ctx_status ctx_comparing_browse(const struct ctx_options *options, struct ctx_err *err);

#endif
