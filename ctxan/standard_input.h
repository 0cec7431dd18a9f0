/*
 * `perf record -o - -- COMMAND | ctxan -`: what comes in on standard input, kept in a temporary directory ($TMPDIR, or
 * /tmp) because a recording is read more than once. The directory is removed by a signal that ends the program, too.
 */
#ifndef CTX_CTXAN_STANDARD_INPUT_H
#define CTX_CTXAN_STANDARD_INPUT_H

#include "base/err.h"

#define CTX_STANDARD_INPUT_NAME "standard input"

struct ctx_standard_input {
	char *directory; /* all are owned */
	char *recording; /* in it: all that came in */
	char *database;	 /* in it: not made yet */
};

/*
 * Reads to the end of the input. The first SIGINT until then is not ours: Ctrl-C ends the recorder in front of the pipe,
 * and that the input. Once for a process. Fails with CTX_E_ARG (a terminal), CTX_E_FORMAT (nothing came, or no
 * perf.data; told by the first bytes), CTX_E_IO, CTX_E_NOMEM; nothing is left then.
 */
CTX_MUST_CHECK enum ctx_status ctx_standard_input_take(struct ctx_standard_input *ret, struct ctx_err *err);

/* Removes the directory. */
void ctx_standard_input_remove(struct ctx_standard_input *input);

#endif
