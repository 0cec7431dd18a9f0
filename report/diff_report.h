/*
 * The report of differences between two sides (compare/diff.h): what changed, and whether by more than noise.
 */
#ifndef CTX_REPORT_DIFF_REPORT_H
#define CTX_REPORT_DIFF_REPORT_H

#include "compare/diff.h"
#include "report/report.h"

/* What `spec` compares of which metric, where it is not what the subject says. */
struct ctx_diff_named {
	const struct ctx_report_kind *kind; /* NULL: the subject's */
	const char *title;		    /* "heap: bytes allocated" */
	double least_share; /* tree: nodes lighter than this share of everything on both sides are left out */
};

/*
 * Prints it to options->out. Of the options, limit, function, and for the tree min_percent and no_fold apply. `named`
 * NULL: as the subject. Errors of ctx_diff_make and ctx_report_print.
 */
CTX_MUST_CHECK enum ctx_status ctx_diff_report_print(const struct ctx_diff_spec *spec,
						     const struct ctx_diff_named *named,
						     const struct ctx_report_options *options,
						     struct ctx_err *err);

#endif
