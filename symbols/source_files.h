/*
 * Source files: from which ones were some places of a load object compiled?
 *
 * Used by `ctxrec --archive-sources` through the program ctxrec-sources (symbols/main.c). Object,
 * debug file and DWARF are searched, read and limited as for a source map; no server is queried.
 */
#ifndef CTX_SYMBOLS_SOURCE_FILES_H
#define CTX_SYMBOLS_SOURCE_FILES_H

#include "base/err.h"
#include "elf/file_request.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_source_files_request {
	struct ctx_file_request object;
	const uint64_t *offsets; /* file offsets; those in no executable segment are ignored */
	size_t n_offsets;
	bool all; /* return the files of all code instead */
};

/*
 * Called once for each file with an absolute path without "//" and "/./". A failure ends the run.
 */
typedef enum ctx_status (*ctx_source_file_fn)(void *context, const char *path, struct ctx_err *err);

/*
 * Calls `each` for the file of the line at each place; an inlined function counts with its own
 * file; the function around it counts only at places of its own. Fails with CTX_E_NOTFOUND (no such
 * object, or no debug information), CTX_E_NOMEM, and what `each` fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_source_files(const struct ctx_source_files_request *request,
						ctx_source_file_fn each, void *context, struct ctx_err *err);

#endif
