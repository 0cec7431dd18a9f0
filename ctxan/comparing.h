/*
 * --diff: opens two sides, each of one or several recordings or of one interval of the same, and prints their
 * differences.
 */
#ifndef CTX_CTXAN_COMPARING_H
#define CTX_CTXAN_COMPARING_H

#include "compare/diff.h"
#include "ctxan/compared.h"
#include "ctxan/options.h"

struct ctx_comparing; /* sides that are open */

/*
 * Opens the sides of the options; without --diff `input` as side B alone: a recording, a list of them, or an archive,
 * whose runs are recordings of the side.
 */
CTX_MUST_CHECK enum ctx_status ctx_comparing_open(const struct ctx_options *options, const char *input,
						  struct ctx_comparing **ret, struct ctx_err *err);
struct ctx_diff_side ctx_comparing_side(const struct ctx_comparing *comparing, enum ctx_compare_side side);
/* Of --rename; NULL: none. */
const struct ctx_renames *ctx_comparing_renames(const struct ctx_comparing *comparing);
/* Whether a side has operations of the metric at all: nobody may have recorded leaks. NULL: yes. */
bool ctx_comparing_has_metric(const struct ctx_comparing *comparing, const char *metric);
/* Prints a table, in the format of `report`. Errors of ctx_diff_report_print. */
CTX_MUST_CHECK enum ctx_status ctx_comparing_print(struct ctx_comparing *comparing,
						   const struct ctx_compared *table,
						   const struct ctx_report_options *report,
						   struct ctx_err *err);
/* NULL is fine. */
void ctx_comparing_close(struct ctx_comparing *comparing);

/* Prints to options->report.out. CTX_E_ARG: the inputs are no two sides. */
CTX_MUST_CHECK enum ctx_status ctx_comparing_answer(const struct ctx_options *options, struct ctx_err *err);

#endif
