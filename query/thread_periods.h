/*
 * The periods of the heaviest threads (timetree/period.h): of all their samples, and of those below a function.
 */
#ifndef CTX_QUERY_THREAD_PERIODS_H
#define CTX_QUERY_THREAD_PERIODS_H

#include "model/phase.h"
#include "query/query.h"

/*
 * In the hull of the selected intervals, in steps of a sample, or of a 16384th of it if these are longer;
 * then also in 16384 steps of a sample within `stretch`. One period of a thread in each: the shortest that is about
 * as strong as the strongest. Sets `ret->periods`. Nothing with filters and for metrics that are not sampled
 * in time: they have no time trees. Fails as ctx_query_histogram does. O(steps log steps) for each thread.
 */
CTX_MUST_CHECK enum ctx_status ctx_thread_periods_find(struct ctx_query *query, struct ctx_interval stretch,
						       struct ctx_phases *ret, struct ctx_err *err);

#endif
