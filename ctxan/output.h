/*
 * What an output file may not be.
 */
#ifndef CTX_CTXAN_OUTPUT_CHECK_H
#define CTX_CTXAN_OUTPUT_CHECK_H

#include "ctxan/options.h"

/* Refuses an output file that would overwrite a recording of the command line or a database: CTX_E_ARG. */
CTX_MUST_CHECK enum ctx_status ctx_output_check(const struct ctx_options *options, const char *path,
						struct ctx_err *err);

#endif
