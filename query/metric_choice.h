/*
 * Selection of metrics: the list of --metric, or the default.
 */
#ifndef CTX_QUERY_METRIC_CHOICE_H
#define CTX_QUERY_METRIC_CHOICE_H

#include "base/err.h"
#include "model/profile.h"
#include "query/selection_spec.h"

/*
 * The metrics listed in the spec, in its order, without duplicates. The default is the first metric
 * with samples of events, Wall if the program only waited, and 0 for a profile without metrics. At
 * least one; malloc'ed.
 *
 * A term is a name, with or without its modifiers ("cycles" for "cycles:u"), a word ("wait-cpu"),
 * or in gprofng's notation (query/metric_names.h). CTX_E_ARG, CTX_E_NOTFOUND: the message lists the
 * recorded metrics.
 */
CTX_MUST_CHECK enum ctx_status ctx_metric_choice_read(const struct ctx_selection_spec *spec,
						      const struct ctx_profile *profile, uint32_t **ret,
						      size_t *ret_n, struct ctx_err *err);

/*
 * Appends the elapsed time of calls to the only metric of a selection: reports of several metrics show
 * both then. Nothing happens where no calls were seen, or it is there.
 */
CTX_MUST_CHECK enum ctx_status ctx_metric_choice_add_elapsed(const struct ctx_profile *profile,
							     uint32_t **metrics, size_t *n,
							     struct ctx_err *err);

#endif
