/*
 * The periods of the heaviest threads (timetree/period.h): of all their samples, and of those below a function.
 */
#ifndef CTX_QUERY_THREAD_PERIODS_H
#define CTX_QUERY_THREAD_PERIODS_H

#include "model/phase.h"
#include "query/query.h"

#define CTX_THREAD_PERIODS_STRETCHES 3u

/*
 * In the hull of the selected intervals, in steps of a sample, or of a 16384th of it if these are longer; then in each of
 * a few stretches of it, the phases of a group that are longest and not idle, in steps of a sample, the middle 16384
 * of them. One period of a thread in each: that of all its samples, or of those in one class of stacks, whichever
 * is clearer. Sets `ret->periods`. Nothing with filters and for metrics that are not sampled in time: they have no time
 * trees. Fails as ctx_query_histogram does. O(steps log steps) for each thread.
 */
CTX_MUST_CHECK enum ctx_status ctx_thread_periods_find(struct ctx_query *query,
						       const struct ctx_phase_group *group,
						       struct ctx_phases *ret, struct ctx_err *err);

#endif
