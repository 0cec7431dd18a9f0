/*
 * Runs one command on an open database: prints all its reports, or its SQL result, to one stream.
 */
#ifndef CTX_CTXAN_ANSWER_H
#define CTX_CTXAN_ANSWER_H

#include "ctxan/options.h"
#include "store/store.h"

/* `name`: the recording as given by the user. Prints to options->report.out. */
CTX_MUST_CHECK enum ctx_status ctx_answer(struct ctx_store *store, const char *name,
					  const struct ctx_options *options, struct ctx_err *err);

#endif
