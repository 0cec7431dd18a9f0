/*
 * From what the user names to an open database: finds the newest recording, ingests when there is no
 * database or the recording has changed.
 */
#ifndef CTX_CTXAN_OPENING_H
#define CTX_CTXAN_OPENING_H

#include "ctxan/options.h"
#include "store/store.h"

#define CTX_OPENING_SUFFIX ".ctxan.db" /* of the database beside a recording that is a file */

/* The name in `directory` (malloc'ed) of the newest recording there: an experiment *.er, or perf.data. CTX_E_NOTFOUND:
 * none. */
CTX_MUST_CHECK enum ctx_status ctx_opening_newest(const char *directory, char **ret, struct ctx_err *err);

/*
 * Opens the database of `input` (an experiment, perf.data or a database). Remarks and progress go to stderr unless
 * options->quiet.
 */
CTX_MUST_CHECK enum ctx_status ctx_opening_open(const char *input, const struct ctx_options *options,
						struct ctx_store **ret, struct ctx_err *err);

#endif
