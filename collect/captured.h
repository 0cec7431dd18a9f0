/*
 * Runs a helper program, and captures what it prints.
 */
#ifndef CTX_COLLECT_CAPTURED_H
#define CTX_COLLECT_CAPTURED_H

#include "base/buf.h"

struct ctx_captured {		    /* all zero is a valid empty one */
	struct ctx_buf out, errors; /* of the two streams, each zero-terminated; owned */
	int status;		    /* as waitpid gives it */
};

void ctx_captured_deinit(struct ctx_captured *captured);

/*
 * Runs argv[0], a path, with default signal handling, no input, and this process's environment; after `seconds` it is
 * killed. `argv` ends with NULL. Fails with CTX_E_IO (it cannot be run), CTX_E_LIMIT (it was killed), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_captured_run(char *const *argv, unsigned seconds, struct ctx_captured *ret,
						struct ctx_err *err);

#endif
