/*
 * Removes experiments, and nothing else: every name in the directory must be one that a recorder or
 * ctxan gives (docs/experiment-format.md, section 1).
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_REMOVE_H
#define CTX_FORMATS_EXPERIMENT_EXP_REMOVE_H

#include "base/err.h"

/*
 * Removes the experiment at `path`. Nothing is removed when it is no experiment, is being recorded,
 * or holds anything that is none of its files: CTX_E_ARG, the message names it. CTX_E_IO.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_remove(const char *path, struct ctx_err *err);

#endif
