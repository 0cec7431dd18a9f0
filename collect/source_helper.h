/*
 * Runs ctxrec-sources (model/source_protocol.h), which finds the source files of offsets in a load
 * object.
 */
#ifndef CTX_COLLECT_SOURCE_HELPER_H
#define CTX_COLLECT_SOURCE_HELPER_H

#include "base/err.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * The helper's path: beside this program (in a build tree), or in its installation directory. Fails
 * with CTX_E_NOTFOUND.
 */
CTX_MUST_CHECK enum ctx_status ctx_source_helper_find(char path[PATH_MAX], struct ctx_err *err);

struct ctx_source_helper_request {
	const char *program;	       /* of ctx_source_helper_find */
	const char *object, *build_id; /* "" not known */
	const uint64_t *offsets;       /* in the file */
	size_t n_offsets;
	bool all; /* the files of all code, not of single offsets */
	unsigned seconds;
};

/* Receives each source file, an absolute path. A failure ends the run. */
typedef enum ctx_status (*ctx_source_path_fn)(void *context, const char *path, struct ctx_err *err);

/*
 * Runs the helper for one object and waits for at most `seconds`, after which it is killed. Fails
 * with CTX_E_NOTFOUND (the object has no line tables), CTX_E_LIMIT (it timed out, ran out of memory
 * or met damaged data), CTX_E_IO (it could not be run), CTX_E_NOMEM, and what `each` fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_source_helper_run(const struct ctx_source_helper_request *request,
						     ctx_source_path_fn each, void *context,
						     struct ctx_err *err);

#endif
