/*
 * The phases of what is selected (timetree/phase_segments.h): the first selected metric's samples by time and
 * call stack, out of the time trees; with filters, and for metrics of spans, by a scan.
 */
#ifndef CTX_QUERY_PHASE_QUERY_H
#define CTX_QUERY_PHASE_QUERY_H

#include "model/phase.h"
#include "query/query.h"

/*
 * The hull of the selected intervals is divided, of selected threads the part in which their processes lived. `details`: each phase's histogram, each process's phases, and the
 * periods; otherwise the intervals of all processes together alone. `*ret` is owned by the caller (ctx_phases_deinit). Fails as
 * ctx_query_histogram does. O(nodes of the time trees of the size of a bin), and as long as ctx_phases_find takes.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_phases(struct ctx_query *query, bool details, struct ctx_phases *ret,
						struct ctx_err *err);

/* Those of the whole run and its first metric, whatever is selected. */
CTX_MUST_CHECK enum ctx_status ctx_query_phases_of_run(struct ctx_store *store, struct ctx_phases *ret,
						       struct ctx_err *err);

/*
 * The same of the processes that a list of --process names, all together, while they live. CTX_E_NOTFOUND,
 * CTX_E_ARG: as ctx_selection_make.
 */
CTX_MUST_CHECK enum ctx_status ctx_query_phases_of_process(struct ctx_store *store, const char *processes,
							   struct ctx_phases *ret, struct ctx_err *err);

#endif
