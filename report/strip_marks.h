/*
 * The marks of the program (model/mark_spans.h) under the strips of a time line: a row for each of the names that took
 * the most time.
 */
#ifndef CTX_REPORT_STRIP_MARKS_H
#define CTX_REPORT_STRIP_MARKS_H

#include "model/mark_spans.h"
#include "model/phase.h"
#include "report/out.h"

struct ctx_strip_columns {
	const uint64_t *edges; /* n + 1 times, ascending: column i is [edges[i], edges[i + 1]) */
	size_t n;
	unsigned label_width;
};

/* What spans are called. */
struct ctx_strip_names {
	const char *const *items; /* by `name` of a span */
	uint32_t n;
	const char *one,
		*more; /* behind the number of those that are not shown: "names of marks: -r marks" */
};

/* '=' in each column that an interval touches, '|' in those of points, 'x' where recording was paused. */
void ctx_strip_marks_print(const struct ctx_mark_spans *spans, const struct ctx_strip_names *names,
			   const struct ctx_strip_columns *columns, struct ctx_out *out);

/* A row with the letter of the phase in which each column begins; none if there is one phase alone. */
void ctx_strip_phases_print(const struct ctx_phase_group *phases, const struct ctx_strip_columns *columns,
			    struct ctx_out *out);

#endif
