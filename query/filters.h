/*
 * The expressions of the command line: --filter, --by and --index. They are parsed before any input
 * is opened, so that errors are reported before an ingest.
 */
#ifndef CTX_QUERY_FILTERS_H
#define CTX_QUERY_FILTERS_H

#include "model/expression.h"
#include "query/selection_spec.h"
#include "query/wrong_place.h"

/* CTX_E_ARG, CTX_E_LIMIT: "--filter: column 9: ...", and the position. */
CTX_MUST_CHECK enum ctx_status ctx_filters_check(const struct ctx_selection_spec *spec,
						 struct ctx_wrong_place *ret_place, struct ctx_err *err);

/*
 * --filter, bound to a profile. An array of n_filters, owned by the caller, each with
 * ctx_expression_destroy.
 */
CTX_MUST_CHECK enum ctx_status ctx_filters_bind(const struct ctx_selection_spec *spec,
						const struct ctx_profile *profile,
						struct ctx_expression ***ret, struct ctx_err *err);

#endif
