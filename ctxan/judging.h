/*
 * --rules: what of a recording, or of the change between two sides, a file of rules finds.
 */
#ifndef CTX_CTXAN_JUDGING_H
#define CTX_CTXAN_JUDGING_H

#include "ctxan/options.h"
#include "query/wrong_place.h"

/*
 * Reads the rules before anything else is done. CTX_E_ARG, CTX_E_LIMIT: "rules.txt: line 3, column 9: ...", and the
 * place in that line; CTX_E_NOTFOUND, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_judging_load(struct ctx_baseline_options *baseline,
						struct ctx_wrong_place *ret_place, struct ctx_err *err);

/* Prints to options->report.out; sets baseline.failed. `input`: of one side; NULL: --diff. */
CTX_MUST_CHECK enum ctx_status ctx_judging_answer(struct ctx_options *options, const char *input,
						  struct ctx_err *err);

#endif
