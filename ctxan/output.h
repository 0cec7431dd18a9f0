/*
 * The file or directory of -o: what it may not be, and that it comes into being whole or not at all.
 */
#ifndef CTX_CTXAN_OUTPUT_H
#define CTX_CTXAN_OUTPUT_H

#include "ctxan/options.h"

/* Refuses an output file that would overwrite a recording of the command line or a database: CTX_E_ARG. */
CTX_MUST_CHECK enum ctx_status ctx_output_check(const struct ctx_options *options, const char *path,
						struct ctx_err *err);

struct ctx_output_answer {
	/* Prints to options->report.out, or into the directory options->output.directory. */
	enum ctx_status (*print)(void *context, struct ctx_options *options, struct ctx_err *err);
	void *context;
};

/*
 * Prints into the file options->output.path, which replaces an existing one on success only; of an
 * export that is a directory into that, which is created on success only.
 */
CTX_MUST_CHECK enum ctx_status ctx_output_write(struct ctx_options *options,
						const struct ctx_output_answer *answer, struct ctx_err *err);

#endif
