/*
 * ctxrec --top: while it records, `ctxan --follow` shows the recording on the terminal.
 *
 *	ctx_top_begin(&top, &err);	before the recording
 *	ctx_top_start(&top, path);	the experiment is there
 *	ctx_top_end(&top);		in any case
 *
 * The screen has the terminal alone: from begin to end, standard output and error go to a file without
 * a name where they are the terminal, and standard input is empty where it is. So the command inherits
 * these, and its output and the recorder's messages are shown at the end. What was redirected by the
 * user is left as it is.
 *
 * ctxan ends by itself with the recording, and ignores the interrupt key, which is for the command.
 */
#ifndef CTX_COLLECT_TOP_H
#define CTX_COLLECT_TOP_H

#include "base/err.h"
#include "collect/priority.h"

#include <limits.h>
#include <stdbool.h>
#include <sys/types.h>
#include <termios.h>

struct ctx_top {
	char program[PATH_MAX];
	int screen;   /* the terminal; -1: none */
	int saved[3]; /* standard input, output, error from before; -1: not replaced */
	int output;   /* the file */
	struct termios modes;
	bool has_modes;
	struct ctx_priority_attr priority; /* the caller's, for the viewer */
	pid_t viewer;			   /* 0: not running */
};

/*
 * Finds ctxan, beside this program or in the PATH, and takes the terminal. CTX_E_NOTFOUND: there is
 * no ctxan; CTX_E_ARG: no terminal; CTX_E_IO. ctx_top_end is required after a failure too.
 */
CTX_MUST_CHECK enum ctx_status ctx_top_begin(struct ctx_top *top, struct ctx_err *err);

/* Starts ctxan. A failure is a message on standard error: the recording is more important. */
void ctx_top_start(struct ctx_top *top, const char *experiment);

/* Waits for ctxan, gives the terminal back, and shows what was printed meanwhile. */
void ctx_top_end(struct ctx_top *top);

#endif
