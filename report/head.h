/*
 * Report headers: the selection, its totals, and what distorts the result (requirement E19). Text
 * only: the back ends print it (report/out_backend.h), as do flame graphs and pages.
 */
#ifndef CTX_REPORT_HEAD_H
#define CTX_REPORT_HEAD_H

#include "base/buf.h"
#include "model/report_source.h"
#include "report/figures.h"

/* Fewer samples than this in a selection get a warning. */
#define CTX_FEW_SAMPLES 200

/* Totals of the selection, for report headers and percentages. */
struct ctx_totals {
	uint64_t samples, weight; /* with what is omitted */
	uint64_t truncated;	  /* samples whose stack begins at a <Truncated-stack>, for any reason */
};

/* The subject of a report that does not count the samples of a metric. */
struct ctx_head_topic {
	struct ctx_metric_info metric;
	struct ctx_totals totals;
	const char *counted;	 /* what totals.samples are: "waits" */
	const char *note;	 /* the first of the warnings; NULL none */
	const char *second_note; /* the next; NULL none */
};

struct ctx_head {
	struct ctx_report_selection selection; /* its members are borrowed */
	const char *report;		       /* name; NULL: a flame graph or page */
	struct ctx_totals totals;
	struct ctx_report_omitted omitted;
	bool has_other;		      /* <Other> has a row */
	const uint64_t *more_weights; /* n_more: totals of the metrics from the second on */
	size_t n_more;
	const struct ctx_head_topic *topic; /* NULL: the first metric */
	const char *note;		    /* the first of the warnings; NULL none */
	const char *preamble;		    /* text before the report header; NULL none */
	struct ctx_scale scale;		    /* of the totals' weight */
};

/* The header of a flame graph or page of histograms. */
struct ctx_head ctx_head_of_parts(const struct ctx_report_selection *selection,
				  const struct ctx_report_parts *parts);

/* Sets `scale` from the topic or first metric and its totals. */
void ctx_head_scale(struct ctx_head *head);

/*
 * Makes it the header of a report about the whole run: intervals, threads, filters and totals are
 * the run's, and `note` is a warning if something else was selected.
 */
void ctx_head_make_whole(struct ctx_head *head, const char *note);

/*
 * Totals of histograms, including the omitted weight. O(nodes of the CCT + entries), times depth if
 * stacks are truncated.
 */
struct ctx_totals ctx_totals_of_parts(const struct ctx_profile *profile,
				      const struct ctx_report_parts *parts);

/* The same of a histogram by raw stack. */
struct ctx_totals ctx_totals_of_raw(const struct ctx_profile *profile, const struct ctx_code *code,
				    const struct ctx_histogram *raw);

/* Of the first metric in the whole run. */
struct ctx_totals ctx_totals_of_run(const struct ctx_report_selection *selection);

/* Totals of all threads together; of the run if there are no sums. */
struct ctx_totals ctx_totals_of_threads(const struct ctx_report_selection *selection,
					const struct ctx_report_thread_sums *sums);

/* Whether the CCT has nodes for stacks with an unknown root: one for each reason. O(nodes). */
bool ctx_head_has_truncated(const struct ctx_profile *profile);

/*
 * The CTX_FUNCTION_TRUNCATED function at the root of a stack of the CCT; CTX_NONE: none. O(depth).
 */
uint32_t ctx_head_truncated_function(const struct ctx_profile *profile, uint32_t stack);

/* Whether everything is selected: the whole run, all threads, no other filter. */
bool ctx_head_is_whole_run(const struct ctx_report_selection *selection);

/*
 * A metric of the profile; one that does not exist (nothing was recorded) has no name and is in
 * "events".
 */
struct ctx_metric_info ctx_head_metric_of(const struct ctx_profile *profile, uint32_t metric);

/* The metric of the report header: the topic's or the first one. */
struct ctx_metric_info ctx_head_metric(const struct ctx_head *head);

/* The thread's tid; -1 for a thread that is not in the profile. */
int64_t ctx_head_tid(const struct ctx_profile *profile, uint32_t thread);

/*
 * "1 span", "250 samples": `many` is the plural; ctx_head_count takes it from the topic or the
 * metric.
 */
#define CTX_HEAD_COUNT_MAX 48u
void ctx_count_text(uint64_t n, const char *many, char ret[CTX_HEAD_COUNT_MAX]);
void ctx_head_count(const struct ctx_head *head, uint64_t n, char ret[CTX_HEAD_COUNT_MAX]);

/* Why there are no call stacks, and what to do; NULL: there are. A constant. */
const char *ctx_head_no_call_stacks(const struct ctx_profile *profile);

/* Calls `put` for every warning, in order. Texts may contain any bytes. */
void ctx_head_warnings(const struct ctx_head *head, void (*put)(void *context, const char *text),
		       void *context);

/*
 * Appends "0.000-1000.000 ms (whole run) | all threads | cpu-clock | 300 samples | 300.000 ms". Any
 * bytes.
 */
void ctx_head_put_summary(const struct ctx_head *head, struct ctx_buf *buf);

/*
 * Appends the title of a text report: the recording, the report, and the summary, with the further
 * metrics. Any bytes.
 */
void ctx_head_put_title(const struct ctx_head *head, struct ctx_buf *buf);

#endif
