/*
 * A profile.proto file as it grows: pieces of the one message, packed and compressed as they come.
 *
 * Serialised messages that follow each other are read as one, repeated fields one behind the other. So a file is
 * written sample by sample, and never stands in memory as a whole.
 */
#ifndef CTX_FORMATS_EXPORT_PPROF_FILE_H
#define CTX_FORMATS_EXPORT_PPROF_FILE_H

#include "base/buf.h"
#include "base/strtab.h"

#include <stdio.h>

struct ctx_pprof_file;
struct Pprof__Profile; /* profile.pb-c.h, made from profile.proto */

/* Begins a gzip file without name and time in `out`, which must outlive it. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_pprof_file_create(FILE *out, struct ctx_pprof_file **ret,
						     struct ctx_err *err);

/* Releases it. What was not closed is no whole file. NULL is fine. */
void ctx_pprof_file_destroy(struct ctx_pprof_file *file);

/* The number of a string in the file's table; control characters and what is not UTF-8 are replaced. */
CTX_MUST_CHECK enum ctx_status ctx_pprof_file_string(struct ctx_pprof_file *file, const char *text,
						     int64_t *ret, struct ctx_err *err);

/* Appends a piece, which is borrowed during the call and has no strings. */
CTX_MUST_CHECK enum ctx_status ctx_pprof_file_put(struct ctx_pprof_file *file,
						  const struct Pprof__Profile *piece, struct ctx_err *err);

/* Appends the table of strings and ends the gzip file. Write errors of `out` are the caller's to find. */
CTX_MUST_CHECK enum ctx_status ctx_pprof_file_close(struct ctx_pprof_file *file, struct ctx_err *err);

#endif
