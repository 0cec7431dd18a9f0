/*
 * A call tree for reading: small nodes are hidden, chains of single children are one line.
 */
#ifndef CTX_REPORT_TREE_FOLDED_H
#define CTX_REPORT_TREE_FOLDED_H

#include "report/metric_view.h"
#include "report/tree_stacks.h"

#define CTX_TREE_MIN_PERCENT 0.5 /* unless --min-percent is given */

#define CTX_TREE_LINES 50u /* of a part, unless --limit or --min-percent 0 is given */

/* Nodes below so many percent of the total are hidden. */
double ctx_tree_min_percent(const struct ctx_report_options *options);

/*
 * Prints the whole report: `parts` are as the source gave them, `stacks` their folded trees. The
 * view is only pulled, not initialised; its report and columns are replaced.
 */
CTX_MUST_CHECK enum ctx_status ctx_tree_folded_print(struct ctx_metric_view *view,
						     const struct ctx_report_parts *parts,
						     const struct ctx_tree_stacks *stacks, bool callers,
						     struct ctx_err *err);

#endif
