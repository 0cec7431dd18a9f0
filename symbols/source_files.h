/*
 * Source files: which ones are some places of a load object compiled from?
 *
 * What `ctxrec --archive-sources` asks, through the program ctxrec-sources (symbols/main.c).
 * Object, debug file and DWARF are found, read and bounded as for a source map; no server is asked.
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
	const uint64_t *offsets; /* in the file; those in no executable segment are ignored */
	size_t n_offsets;
	bool all; /* the files of all code instead */
};

/* Gets each file once, an absolute path without "//" and "/./". A failure ends it. */
typedef enum ctx_status (*ctx_source_file_fn)(void *context, const char *path, struct ctx_err *err);

/*
 * Calls `each` for the file of the line at each place; functions that were inlined there are in
 * their own files, those that they are inlined in count where they have places of their own. Fails
 * with CTX_E_NOTFOUND (no such object, or no debug information), CTX_E_NOMEM, and what `each` fails
 * with.
 */
CTX_MUST_CHECK enum ctx_status ctx_source_files(const struct ctx_source_files_request *request,
						ctx_source_file_fn each, void *context, struct ctx_err *err);

#endif
