/*
 * Heads of exports that are for people: the same totals, selection and warnings as a report of the same selection has.
 */
#ifndef CTX_REPORT_EXPORT_HEAD_H
#define CTX_REPORT_EXPORT_HEAD_H

#include "model/export.h"
#include "report/out.h"

/* Points into itself: stays where it was made. */
struct ctx_export_head {
	struct ctx_report_part whole;
	struct ctx_report_input input; /* one part: all selected threads together */
	struct ctx_report_options options;
	struct ctx_out out; /* input, totals, scale; nothing is printed to it */
};

/* Needs input->whole. `input` must outlive the head; there is nothing to release. */
void ctx_export_head_init(struct ctx_export_head *head, const struct ctx_export_input *input);

/* Appends "0.000-1000.000 ms (whole run) | all threads | cpu-clock | 300 samples | 300.000 ms". Any bytes. */
void ctx_export_head_put(const struct ctx_export_head *head, struct ctx_buf *buf);

/* Calls `put` for every warning. Texts may hold any bytes. */
void ctx_export_head_warnings(struct ctx_export_head *head, void (*put)(void *context, const char *text),
			      void *context);

#endif
