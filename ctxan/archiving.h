/*
 * Archives of runs: making one (--archive), and what it says of itself.
 */
#ifndef CTX_CTXAN_ARCHIVING_H
#define CTX_CTXAN_ARCHIVING_H

#include "ctxan/options.h"
#include "store/archive.h"

/* ctxan --archive: the inputs, recordings or archives, become runs. Nothing is replaced unless all could be read. */
CTX_MUST_CHECK enum ctx_status ctx_archiving_write(const struct ctx_options *options, struct ctx_err *err);

/* ctxan base.db: its runs, a line each. CTX_E_ARG: a format that has no list. */
CTX_MUST_CHECK enum ctx_status ctx_archiving_list(const struct ctx_archive *archive, const char *path,
						  const struct ctx_options *options, struct ctx_err *err);

/* The index of the run that --run names, which must be in the archive. CTX_E_NOTFOUND. */
CTX_MUST_CHECK enum ctx_status ctx_archiving_choose(const struct ctx_archive *archive, const char *path,
						    uint32_t run, size_t *ret, struct ctx_err *err);

#endif
