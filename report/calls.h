/*
 * Numbers of calls: exact where the recorder saw each call, otherwise a lower bound that samples
 * give.
 */
#ifndef CTX_REPORT_CALLS_H
#define CTX_REPORT_CALLS_H

#include "report/out.h"

/* Whether the calls of a metric are counted. */
bool ctx_calls_exact(const struct ctx_profile *profile, uint32_t metric);

/* The same of the first metric of a report. */
bool ctx_calls_exact_here(const struct ctx_out *out);

/*
 * A cell of calls: for reading ">=22" where they are a lower bound, or nothing if the column is not
 * shown.
 */
struct ctx_cell ctx_calls_cell(struct ctx_out *out, int64_t calls);

/*
 * The columns of a report for reading: those that are estimated calls ("Calls") have no title,
 * unless all columns are wanted (--columns, --no-fold). The result is in the arena or `columns`;
 * NULL: no memory.
 */
const struct ctx_column *ctx_calls_columns(const struct ctx_report_selection *selection,
					   const struct ctx_report_options *options,
					   const struct ctx_report_kind *kind, struct ctx_arena *arena);

#endif
