/*
 * Parallel regions of OpenMP under the strips of a time line: a row for each of those that took the most time.
 */
#ifndef CTX_REPORT_STRIP_REGIONS_H
#define CTX_REPORT_STRIP_REGIONS_H

#include "report/strip_marks.h"

/* Operations of CTX_TRACED_OMP; tasks are passed over. O(operations). */
void ctx_strip_regions_print(const struct ctx_traced *operations, size_t n,
			     const struct ctx_strip_columns *columns, struct ctx_out *out);

#endif
