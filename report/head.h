/*
 * Heads of reports: what was asked, how much was found, and what distorts the answer (requirement E19). Texts alone: back
 * ends print them (report/out_backend.h), pictures and pages too.
 */
#ifndef CTX_REPORT_HEAD_H
#define CTX_REPORT_HEAD_H

#include "base/buf.h"
#include "model/report_source.h"
#include "report/figures.h"

/* Fewer samples than this in a selection get a warning. */
#define CTX_FEW_SAMPLES 200

/* What the selection holds, for heads and percentages. */
struct ctx_totals {
	uint64_t samples, weight; /* with what is omitted */
	uint64_t truncated;	  /* samples whose stack begins at a <Truncated-stack> of any reason */
};

/* What a report is about that is not about a metric's samples. */
struct ctx_head_topic {
	struct ctx_metric_info metric;
	struct ctx_totals totals;
	const char *counted;	 /* what totals.samples are: "waits" */
	const char *note;	 /* the first of the warnings; NULL none */
	const char *second_note; /* the next; NULL none */
};

struct ctx_head {
	struct ctx_report_selection selection; /* its members are borrowed */
	const char *report;		       /* name; NULL: of a picture or page */
	struct ctx_totals totals;
	struct ctx_report_omitted omitted;
	bool has_other;		      /* <Other> has a row */
	const uint64_t *more_weights; /* n_more: of the metrics from the second on */
	size_t n_more;
	const struct ctx_head_topic *topic; /* NULL: the first metric */
	const char *note;		    /* the first of the warnings; NULL none */
	const char *preamble;		    /* text in front of the head; NULL none */
	struct ctx_scale scale;		    /* of the totals' weight */
};

/* The head of a picture or page of histograms. */
struct ctx_head ctx_head_of_parts(const struct ctx_report_selection *selection,
				  const struct ctx_report_parts *parts);

/* Sets `scale`, from what the head is about and its totals. */
void ctx_head_scale(struct ctx_head *head);

/*
 * Makes it the head of a report about the whole run: intervals, threads, filters and totals are the run's, and `note` is a
 * warning where something else was selected.
 */
void ctx_head_make_whole(struct ctx_head *head, const char *note);

/* Totals of histograms, with what they omit. O(nodes of the CCT + entries), times depth where stacks are truncated. */
struct ctx_totals ctx_totals_of_parts(const struct ctx_profile *profile,
				      const struct ctx_report_parts *parts);

/* The same of a histogram by raw stack. */
struct ctx_totals ctx_totals_of_raw(const struct ctx_profile *profile, const struct ctx_code *code,
				    const struct ctx_histogram *raw);

/* Of the first metric in the whole run. */
struct ctx_totals ctx_totals_of_run(const struct ctx_report_selection *selection);

/* Of all threads together; of the run where there are no sums. */
struct ctx_totals ctx_totals_of_threads(const struct ctx_report_selection *selection,
					const struct ctx_report_thread_sums *sums);

/* The function of kind CTX_FUNCTION_TRUNCATED that a stack of the CCT begins with; CTX_NONE: none. O(depth). */
uint32_t ctx_head_truncated_function(const struct ctx_profile *profile, uint32_t stack);

/* Whether everything was asked for: the whole run, all threads, no other filter. */
bool ctx_head_is_whole_run(const struct ctx_report_selection *selection);

/* A metric of the profile; one that does not exist (nothing was recorded) has no name and is in "events". */
struct ctx_metric_info ctx_head_metric_of(const struct ctx_profile *profile, uint32_t metric);

/* What the head is about: the topic or the first metric. */
struct ctx_metric_info ctx_head_metric(const struct ctx_head *head);

/* The thread's tid; -1 for a thread that is not in the profile. */
int64_t ctx_head_tid(const struct ctx_profile *profile, uint32_t thread);

/* "1 span", "250 samples": so many of what `many` names in the plural; the same of what the metric has, or the report is about. */
#define CTX_HEAD_COUNT_MAX 48u
void ctx_count_text(uint64_t n, const char *many, char ret[CTX_HEAD_COUNT_MAX]);
void ctx_head_count(const struct ctx_head *head, uint64_t n, char ret[CTX_HEAD_COUNT_MAX]);

/* Calls `put` for every warning, in order. Texts may hold any bytes. */
void ctx_head_warnings(const struct ctx_head *head, void (*put)(void *context, const char *text),
		       void *context);

/* Appends "0.000-1000.000 ms (whole run) | all threads | cpu-clock | 300 samples | 300.000 ms". Any bytes. */
void ctx_head_put_summary(const struct ctx_head *head, struct ctx_buf *buf);

/* Appends what a text report begins with: the recording, the report, and the same with further metrics. Any bytes. */
void ctx_head_put_title(const struct ctx_head *head, struct ctx_buf *buf);

#endif
