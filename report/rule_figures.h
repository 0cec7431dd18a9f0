/*
 * Figures of a recording for rules: what is one row, such as its waits by kind and the peak of its heap.
 */
#ifndef CTX_REPORT_RULE_FIGURES_H
#define CTX_REPORT_RULE_FIGURES_H

#include "model/report_source.h"
#include "rules/rule_fields.h"

#define CTX_RULE_FIGURE_KINDS (CTX_RULE_KINDS - CTX_RULE_STATE)

struct ctx_rule_figures {
	double values[CTX_RULE_FIGURE_KINDS][CTX_RULE_MEASURES_MAX]; /* from CTX_RULE_STATE on, by measure */
	const char *missing[CTX_RULE_FIGURE_KINDS]; /* why there are none; NULL: there are. Static */
	double threads_ms; /* the selected time of all threads; 0 without thread states */
};

/*
 * Reads those of the kinds in `wanted` (1 << kind) for the selection. Of an archived run without samples those that
 * were kept are taken. O(waits + heap operations). CTX_E_NOMEM and what the source fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_rule_figures_read(struct ctx_report_source *source, unsigned wanted,
						     struct ctx_rule_figures *ret, struct ctx_err *err);

/* The name by which an archived run keeps a figure: "wait.mutex". */
void ctx_rule_put_figure_name(struct ctx_buf *buf, enum ctx_rule_kind kind, size_t measure);

/* The selected time, ns. */
uint64_t ctx_rule_wall_ns(const struct ctx_report_selection *selection);

#endif
