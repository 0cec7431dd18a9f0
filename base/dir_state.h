/*
 * The state of a directory of files that are not changed in place: names, sizes and times. Equal states mean that it has
 * not changed.
 */
#ifndef CTX_BASE_DIR_STATE_H
#define CTX_BASE_DIR_STATE_H

#include "base/buf.h"
#include "base/err.h"

/*
 * Appends name, size and time of each file of a directory, in order of names, and of those in its directories, two
 * levels deep. Files of analysers, whose names begin with `but`, are left out, as is what is removed meanwhile.
 * CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_dir_put_state(struct ctx_buf *out, const char *path, const char *but,
						 struct ctx_err *err);

/* The same of one file. */
void ctx_file_put_state(struct ctx_buf *out, const char *path);

#endif
