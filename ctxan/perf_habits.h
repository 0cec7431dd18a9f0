/*
 * Command lines of perf report: what does no harm is dropped, the rest is refused with the option
 * that does it here.
 */
#ifndef CTX_CTXAN_PERF_HABITS_H
#define CTX_CTXAN_PERF_HABITS_H

#include "base/err.h"

#include <stdbool.h>

/*
 * Removes words such as --stdio from argv. CTX_E_ARG with the replacement: "-g", "--children",
 * "report" (unless there is a file of that name).
 */
CTX_MUST_CHECK enum ctx_status ctx_perf_habits_check(int *argc, char **argv, struct ctx_err *err);

/* Whether the value of --sort is what perf report has there, "comm,dso,sym": the keys of --by. */
bool ctx_perf_habits_is_sort(const char *sort);

#endif
