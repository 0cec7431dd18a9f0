/*
 * The report of differences between two sides (compare/diff.h): which functions changed, and whether by more
 * than noise.
 */
#ifndef CTX_REPORT_DIFF_REPORT_H
#define CTX_REPORT_DIFF_REPORT_H

#include "compare/diff.h"
#include "report/report.h"

/*
 * Prints it to options->out. Of the options, limit and function apply. Errors of ctx_diff_make and ctx_report_print.
 */
CTX_MUST_CHECK enum ctx_status ctx_diff_report_print(const struct ctx_diff_spec *spec,
						     const struct ctx_report_options *options,
						     struct ctx_err *err);

#endif
