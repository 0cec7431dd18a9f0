/*
 * The first screen of a program with OpenMP: how much of the time of its teams is wait, and where most of it is.
 *
 *	spans of OMP Wait --> sums by construct and state --> the largest
 */
#ifndef CTX_REPORT_SUMMARY_OMP_H
#define CTX_REPORT_SUMMARY_OMP_H

#include "base/err.h"
#include "model/report_source.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_summary_omp { /* all zero: nothing of OpenMP was recorded */
	uint64_t work_ns, wait_ns;
	/* Where most of the wait is: functions, the construct and the state, and how long; CTX_NONE: there is none. */
	uint32_t construct, state;
	uint64_t most_ns;
};

/* Of the selection. A scan of the spans of both metrics. Fails with CTX_E_NOMEM, and as the source does. */
CTX_MUST_CHECK enum ctx_status ctx_summary_omp_collect(struct ctx_report_source *source,
						       struct ctx_summary_omp *ret, struct ctx_err *err);

/* Whether the waits are what to look at first: a fifth of the time of teams, which is a fifth of `thread_ns` or more. */
bool ctx_summary_omp_is_first(const struct ctx_summary_omp *omp, uint64_t thread_ns);

#endif
