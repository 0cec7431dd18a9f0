/*
 * Removes experiments, and nothing else: every name in the directory must be one that a recorder or
 * ctxan gives (docs/experiment-format.md, section 1). And tells whether one is being recorded: the
 * recorder keeps a lock (flock) on log.xml.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_REMOVE_H
#define CTX_FORMATS_EXPERIMENT_EXP_REMOVE_H

#include "base/err.h"

#include <stdbool.h>

/* False too where there is no experiment, or it cannot be read. */
bool ctx_exp_is_recorded(const char *path);

/*
 * Removes the experiment at `path`. Nothing is removed when it is no experiment, is being recorded,
 * or holds anything that is none of its files: CTX_E_ARG, the message names it. CTX_E_IO.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_remove(const char *path, struct ctx_err *err);

#endif
