/*
 * One command on one open database: all its reports, or its SQL, to one stream.
 */
#ifndef CTX_CTXAN_ANSWER_H
#define CTX_CTXAN_ANSWER_H

#include "ctxan/options.h"
#include "store/store.h"

/* `name`: how the user called the experiment. Prints to options->report.out. */
CTX_MUST_CHECK enum ctx_status ctx_answer(struct ctx_store *store, const char *name,
					  const struct ctx_options *options, struct ctx_err *err);

#endif
