/*
 * Runs ctxrec-sources (model/source_protocol.h), which knows the source files of places in a load
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
 * The program: beside this one (where it is built), or in its directory of the installation. Fails
 * with CTX_E_NOTFOUND.
 */
CTX_MUST_CHECK enum ctx_status ctx_source_helper_find(char path[PATH_MAX], struct ctx_err *err);

struct ctx_source_helper_request {
	const char *program;	       /* of ctx_source_helper_find */
	const char *object, *build_id; /* "" not known */
	const uint64_t *offsets;       /* in the file */
	size_t n_offsets;
	bool all; /* the files of all code instead */
	unsigned seconds;
};

/* Gets each source file, an absolute path. A failure ends the whole. */
typedef enum ctx_status (*ctx_source_path_fn)(void *context, const char *path, struct ctx_err *err);

/*
 * Runs it for one object and waits for it, `seconds` at most: it is killed then. Fails with
 * CTX_E_NOTFOUND (the object has no line tables), CTX_E_LIMIT (it did not end well: out of time or
 * memory, or damage), CTX_E_IO (it could not be run), CTX_E_NOMEM, and what `each` fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_source_helper_run(const struct ctx_source_helper_request *request,
						     ctx_source_path_fn each, void *context,
						     struct ctx_err *err);

#endif
