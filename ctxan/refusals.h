/*
 * Checks after a recording is opened: options that contradict a report, an export or each other.
 */
#ifndef CTX_CTXAN_REFUSALS_H
#define CTX_CTXAN_REFUSALS_H

#include "ctxan/options.h"
#include "query/selection.h"

/* CTX_E_ARG with the supported combination. */
CTX_MUST_CHECK enum ctx_status ctx_refusals_check(const struct ctx_options *options,
						  const struct ctx_selection *selection, struct ctx_err *err);

#endif
