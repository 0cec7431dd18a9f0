/*
 * Heads of reports: what was asked, how much was found, and what distorts the answer (requirement E19).
 */
#ifndef CTX_REPORT_HEAD_H
#define CTX_REPORT_HEAD_H

#include "report/out.h"

/* Fewer samples than this in a selection get a warning. */
#define CTX_FEW_SAMPLES 200

/* The function of kind CTX_FUNCTION_TRUNCATED that a stack of the CCT begins with; CTX_NONE: none. O(depth). */
uint32_t ctx_head_truncated_function(const struct ctx_profile *profile, uint32_t stack);

/* Sums the parts; without parts the raw histogram, the slices, or the metric over the whole run. */
void ctx_head_totals(const struct ctx_report_input *input, struct ctx_totals *ret);

/* Whether everything was asked for: the whole run, all threads, no other filter. */
bool ctx_head_is_whole_run(const struct ctx_report_input *input);

/*
 * The input without its selection, for reports that are about the whole experiment: the run, all threads, the
 * metric's sums over the run. Borrows from `input`.
 */
struct ctx_report_input ctx_head_whole_run(const struct ctx_report_input *input);

/* The metric; an experiment without metrics has one of no name, in "events". */
struct ctx_metric_info ctx_head_metric(const struct ctx_report_input *input);

/* One of the further metrics. */
struct ctx_metric_info ctx_head_more_metric(const struct ctx_report_input *input, size_t i);

/* Whether its samples are spans that were measured, so that few of them are as good as many. */
bool ctx_head_is_measured(const struct ctx_metric_info *metric);

/* The thread's tid; -1 for a thread that is not in the profile. */
int64_t ctx_head_tid(const struct ctx_profile *profile, uint32_t thread);

/* "pt_PID_TID (name)", the title of a thread's tree; arena text of `out`. CTX_NONE: NULL. */
const char *ctx_head_thread_title(struct ctx_out *out, uint32_t thread);

/* "1 span", "250 samples": so many of what `many` names in the plural; the same of what the metric has, or the report is about. */
#define CTX_HEAD_COUNT_MAX 48u
void ctx_count_text(uint64_t n, const char *many, char ret[CTX_HEAD_COUNT_MAX]);
void ctx_head_count(const struct ctx_out *out, uint64_t n, char ret[CTX_HEAD_COUNT_MAX]);

/* Calls `put` for every warning, in order. Texts may hold any bytes. */
void ctx_head_warnings(struct ctx_out *out, void (*put)(void *context, const char *text), void *context);

/* Appends "0.000-1000.000 ms (whole run) | all threads | cpu 3". Any bytes. */
void ctx_head_put_selection(const struct ctx_report_input *input, struct ctx_buf *buf);

/* The head of a text report. */
void ctx_head_print(struct ctx_out *out);

/*
 * Prints "<first><text>", wrapped at the width, further lines indented by `indent` columns. Both may hold
 * any bytes; a newline in `text` ends a line.
 */
void ctx_head_print_wrapped(struct ctx_out *out, const char *first, const char *text, unsigned indent);

#endif
