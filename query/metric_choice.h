/*
 * The choice of metrics: the list of --metric, or what is shown without it.
 */
#ifndef CTX_QUERY_METRIC_CHOICE_H
#define CTX_QUERY_METRIC_CHOICE_H

#include "base/err.h"
#include "model/profile.h"
#include "query/selection_spec.h"

/*
 * The metrics that the spec names, in its order, none twice; without a list the first that has samples of events, of a program that
 * did nothing but wait Wall, and 0 of a profile without metrics. At least one; malloc'ed.
 *
 * A term is a name, with or without its modifiers ("cycles" for "cycles:u"), a word ("wait-cpu"), or in gprofng's notation
 * (query/metric_names.h). CTX_E_ARG, CTX_E_NOTFOUND: what is wrong, and what was recorded.
 */
CTX_MUST_CHECK enum ctx_status ctx_metric_choice_read(const struct ctx_selection_spec *spec,
						      const struct ctx_profile *profile, uint32_t **ret,
						      size_t *ret_n, struct ctx_err *err);

#endif
