/*
 * Common parts of the reports of OpenMP: where a construct is, and times in the unit that fits.
 */
#ifndef CTX_REPORT_OMP_PAGE_H
#define CTX_REPORT_OMP_PAGE_H

#include "report/traced_page.h"

/* All borrowed from the source. */
struct ctx_omp_place {
	const char *function; /* of the construct: "f -- OMP parallel region from line 12" */
	const char *object;   /* of the function around it; "" unknown */
	const char *file;     /* NULL unknown */
	uint32_t line;	      /* 0 unknown */
};

/* Of the leaf of an operation's stack. `code` as of struct ctx_report_source; O(1). */
struct ctx_omp_place ctx_omp_place_of(const struct ctx_profile *profile, const struct ctx_code *code,
				      const struct ctx_traced *operation);

/* For people: "f:12", the line; what kind of construct it is the page says. Valid as long as the page. */
const char *ctx_omp_place_text(struct ctx_traced_page *page, const struct ctx_omp_place *place);

/* Of an execution of a region: threads of its team. */
static inline uint64_t ctx_omp_team(const struct ctx_traced *region)
{
	return region->descriptor > 0 ? (uint64_t)region->descriptor : 1;
}

/* The same: the work of the thread that worked most, less the mean of its team. */
static inline double ctx_omp_imbalance_ns(const struct ctx_traced *region)
{
	return (double)region->longest_ns - (double)region->self_ns / (double)ctx_omp_team(region);
}

/* Whether the page shows the operation: it is of the kind, and passes --function. */
static inline bool ctx_omp_is_shown(const struct ctx_traced_page *page, const struct ctx_traced *operation,
				    enum ctx_omp_operation kind)
{
	return operation->operation == kind && ctx_traced_passes(page, operation);
}

#endif
