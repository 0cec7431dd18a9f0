/*
 * Streaming writer of a profile.proto file: pieces of one message are packed and compressed as they
 * arrive.
 *
 * Concatenated serialised messages are read as one message, with repeated fields concatenated. So a
 * file is written sample by sample and never held in memory as a whole.
 */
#ifndef CTX_FORMATS_EXPORT_PPROF_FILE_H
#define CTX_FORMATS_EXPORT_PPROF_FILE_H

#include "base/buf.h"
#include "base/strtab.h"

#include <stdio.h>

struct ctx_pprof_file;
struct Pprof__Profile; /* profile.pb-c.h, generated from profile.proto */

/*
 * Begins a gzip file without name and time in `out`, which must outlive it. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_pprof_file_create(FILE *out, struct ctx_pprof_file **ret,
						     struct ctx_err *err);

/* Releases it. A file that was not closed is incomplete. NULL is fine. */
void ctx_pprof_file_destroy(struct ctx_pprof_file *file);

/* The number of a string in the file's table; control characters and invalid UTF-8 are replaced. */
CTX_MUST_CHECK enum ctx_status ctx_pprof_file_string(struct ctx_pprof_file *file, const char *text,
						     int64_t *ret, struct ctx_err *err);

/* Appends a piece, which is borrowed during the call and must not have strings. */
CTX_MUST_CHECK enum ctx_status ctx_pprof_file_put(struct ctx_pprof_file *file,
						  const struct Pprof__Profile *piece, struct ctx_err *err);

/*
 * Appends the table of strings and ends the gzip file. The caller must check `out` for write
 * errors.
 */
CTX_MUST_CHECK enum ctx_status ctx_pprof_file_close(struct ctx_pprof_file *file, struct ctx_err *err);

#endif
