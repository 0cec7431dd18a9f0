/*
 * --diff: opens two sides, each of one or several recordings or of one interval of the same, and prints their
 * differences.
 */
#ifndef CTX_CTXAN_COMPARING_H
#define CTX_CTXAN_COMPARING_H

#include "ctxan/options.h"

/* Prints to options->report.out. CTX_E_ARG: the inputs are no two sides. */
CTX_MUST_CHECK enum ctx_status ctx_comparing_answer(const struct ctx_options *options, struct ctx_err *err);

#endif
