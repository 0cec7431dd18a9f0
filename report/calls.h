/*
 * Numbers of calls: exact where the recorder saw each call, otherwise a lower bound that samples
 * give.
 */
#ifndef CTX_REPORT_CALLS_H
#define CTX_REPORT_CALLS_H

#include "calltree/calltree.h"
#include "report/out.h"

/* Whether the calls of a metric are counted. */
bool ctx_calls_exact(const struct ctx_profile *profile, uint32_t metric);

/* The same of the first metric of a report. */
bool ctx_calls_exact_here(const struct ctx_out *out);

/* What was seen of the calls of a row. */
struct ctx_calls_seen {
	bool known;   /* a metric of the report has exact calls */
	bool traced;  /* some of them are of this row; else it is of samples alone */
	bool sampled; /* samples are, too */
	int64_t calls;
	uint64_t elapsed_ns; /* with what is below, whether the threads ran or not */
};

/* Whether a metric of the first n of the selection has exact calls. */
bool ctx_calls_are_seen(const struct ctx_report_selection *selection, size_t n);

/* Of a row with these values in the metrics of the selection: the first one, and n_more. */
struct ctx_calls_seen ctx_calls_seen_of(const struct ctx_report_selection *selection,
					const struct ctx_flat_row *first, const struct ctx_flat_row *more,
					size_t n_more);

/* Cells of JSON and CSV: "traced", "sampled", "both"; and the elapsed time. Without a key where nothing is known. */
struct ctx_cell ctx_calls_origin_cell(const struct ctx_calls_seen *seen);
struct ctx_cell ctx_calls_elapsed_cell(const struct ctx_calls_seen *seen);

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
