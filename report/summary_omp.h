/*
 * The first screen of a program with OpenMP: how much of the time of its teams is wait, where most of it is, and its regions.
 *
 *	spans of OMP Work and Wait --> sums by construct and state --> the largest
 *	                           `-> sums by region -------------.
 *	executions of regions --> imbalance -----------------------+--> the regions that wait most
 */
#ifndef CTX_REPORT_SUMMARY_OMP_H
#define CTX_REPORT_SUMMARY_OMP_H

#include "base/buf.h"
#include "base/err.h"
#include "model/report_source.h"

#include <stdbool.h>
#include <stdint.h>

#define CTX_SUMMARY_OMP_REGIONS 3u

struct ctx_summary_omp_region {
	uint32_t function;
	uint64_t work_ns, wait_ns; /* of all threads of its teams */
	uint32_t state;		   /* function of the state that has most of the wait; CTX_NONE: no wait */
	uint64_t longest_ns;	   /* the longest works of its executions, together */
	double imbalance_ns;	   /* of these: more than the mean */
};

struct ctx_summary_omp { /* all zero: nothing of OpenMP was recorded */
	uint64_t work_ns, wait_ns;
	/* Where most of the wait is: functions, the construct and the state, and how long; CTX_NONE: there is none. */
	uint32_t construct, state;
	uint64_t most_ns;
	struct ctx_summary_omp_region
		regions[CTX_SUMMARY_OMP_REGIONS]; /* those that wait most, the first one most */
	size_t n_regions;
};

/* Of the selection. A scan of the spans of both metrics. Fails with CTX_E_NOMEM, and as the source does. */
CTX_MUST_CHECK enum ctx_status ctx_summary_omp_collect(struct ctx_report_source *source,
						       struct ctx_summary_omp *ret, struct ctx_err *err);

/* Whether the time of teams is a fifth of `thread_ns` or more. */
bool ctx_summary_omp_is_large(const struct ctx_summary_omp *omp, uint64_t thread_ns);

/* Whether the waits are what to look at first: a fifth of the time of teams or more, which is large. */
bool ctx_summary_omp_is_first(const struct ctx_summary_omp *omp, uint64_t thread_ns);

/* Appends "critical section", "implicit barrier" of a state's function; "" of CTX_NONE. */
void ctx_summary_omp_put_state(const struct ctx_profile *profile, uint32_t state, struct ctx_buf *text);

/* Appends "f:12" of a construct's function, as the report omp-regions has it. Any bytes. */
void ctx_summary_omp_put_construct(const struct ctx_profile *profile, uint32_t construct,
				   struct ctx_buf *text);

#endif
