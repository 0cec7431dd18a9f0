/*
 * `perf record -o - -- COMMAND | ctxan -`: standard input, stored in a temporary directory
 * ($TMPDIR, or /tmp) because a recording is read more than once. The directory is also removed on a
 * signal that ends the program.
 */
#ifndef CTX_CTXAN_STANDARD_INPUT_H
#define CTX_CTXAN_STANDARD_INPUT_H

#include "base/err.h"

#define CTX_STANDARD_INPUT_NAME "standard input"

struct ctx_standard_input {
	char *directory; /* all are owned */
	char *recording; /* in it: the whole input */
	char *database;	 /* in it: not made yet */
};

/*
 * Reads to the end of the input. The first SIGINT until then is ignored: Ctrl-C ends the recorder
 * before the pipe, which ends the input. Call once per process. Fails with CTX_E_ARG (a terminal),
 * CTX_E_FORMAT (empty, or not perf.data by the first bytes), CTX_E_IO, CTX_E_NOMEM; no files are
 * left then.
 */
CTX_MUST_CHECK enum ctx_status ctx_standard_input_take(struct ctx_standard_input *ret, struct ctx_err *err);

/* Removes the directory. */
void ctx_standard_input_remove(struct ctx_standard_input *input);

#endif
