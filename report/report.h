/*
 * Reports: histograms and nouns in, text, JSON or CSV out. Pure: no database, no files but the stream to
 * print to.
 *
 * The caller (ctxan) makes the histograms, by time tree or by scan; a report does not know which. The JSON
 * and CSV keys are a contract: keys are added, never renamed (docs/json.md).
 * Text fits `width` columns: names are cut with an ellipsis in the middle, numbers never. Names are data:
 * control characters, escapes and invalid UTF-8 are shown harmless in every format.
 */
#ifndef CTX_REPORT_REPORT_H
#define CTX_REPORT_REPORT_H

#include "model/code.h"
#include "model/histogram.h"
#include "model/interval.h"
#include "model/profile.h"
#include "model/report_data.h"

#include <stdbool.h>
#include <stdio.h>

enum ctx_report_format {
	CTX_REPORT_TEXT,
	CTX_REPORT_JSON,
	CTX_REPORT_CSV,
};

struct ctx_report_input {
	const struct ctx_profile *profile;
	const char *path;		      /* as the user named the experiment */
	const struct ctx_interval *intervals; /* what was asked; the whole run: one, equal to profile->run */
	size_t n_intervals;
	const uint32_t *threads; /* selected; NULL: all */
	size_t n_threads;
	const char *filter; /* other filters in words ("cpu 3"), "" none */
	uint32_t metric;
	const uint32_t *more_metrics; /* shown beside it (functions, tree, callers-callees) */
	size_t n_more;
	const struct ctx_report_states
		*states; /* states, wakers: selected threads with any time; by thread id */
	size_t n_states;
	const struct ctx_report_wakers *wakers; /* wakers only */
	size_t n_wakers;
	unsigned wait_states; /* wakers: of CTX_STATE_BIT, the waits that are asked for; 0: all */
	/* Of reports with needs_traced: the operations of the selection (interval, threads, CPUs, filters) by kind. */
	struct ctx_report_traced traced[CTX_TRACED_N];
	const struct ctx_report_part *parts; /* one for all, or one a thread (--per-thread) */
	size_t n_parts;
	const struct ctx_report_index *index; /* index only */
	uint64_t omitted_weight, omitted_samples,
		omitted_largest; /* --coverage top: shown as <Other>; 0 when exact */
	const struct ctx_report_slice
		*slices; /* timeline only: by thread, then by time, all threads with equally many */
	size_t n_slices, slices_per_thread;
	/* Of reports with needs_code. */
	const struct ctx_code *code;
	const struct ctx_histogram *raw; /* all selected threads together, by raw stack (calls are 0) */
	const struct ctx_code_reader *reader;
	const struct ctx_report_level *levels; /* timeline only */
	size_t n_levels;
	const uint64_t *thread_samples,
		*thread_weight; /* threads, processes: by thread id, within the selection; NULL: of the whole run */
};

struct ctx_report_options {
	enum ctx_report_format format;
	FILE *out;
	unsigned width; /* columns of text; 0: not limited */
	bool color;
	bool ascii;	 /* no Unicode drawing (a terminal without UTF-8) */
	uint32_t limit;	 /* rows (functions, stanzas, stacks, tree lines; source, disasm: sections); 0: all */
	bool per_thread; /* wakers: threads of one name are not put together, however many they are */
	bool whole; /* source, disasm: long runs without samples are printed too (--limit 0); wakers: all of them */
	const char *sort; /* a row key such as "inclusive"; NULL: the report's own order */
	const char *
		subject; /* source, disasm: what of, FUNC or FILE; NULL: the hottest function. wakers: FUNC */
	const char *function; /* only stanzas, stacks, subtrees with a function of this name; NULL: all */
	double min_percent; /* tree: leave out nodes with less of the total than this; they are summed in a line */
};

/* The reports by name, for --help and --report. */
struct ctx_report_kind {
	const char *name;      /* "callers-callees" */
	const char *summary;   /* one line */
	bool needs_parts;      /* header, overview, processes do not */
	bool needs_calls;      /* tree, callers-callees */
	bool needs_slices;     /* timeline */
	bool needs_code;       /* lines, pcs, source, disasm: code, raw and reader */
	bool takes_subject;    /* source, disasm, wakers: "--report source=FUNC" */
	bool needs_states;     /* states, wakers */
	bool needs_wakers;     /* wakers */
	bool needs_index;      /* index */
	unsigned needs_traced; /* 1 << enum ctx_traced_kind: heap, leaks, sync, io */
	bool many_metrics;     /* can show more_metrics: functions, tree, callers-callees, index */
	bool any_function;     /* has no rows of functions or stacks to choose from by --function */
	bool any_metric; /* is not about a metric: header, overview, samples, states, wakers, and those of traced operations */
	bool needs_thread_sums; /* threads, processes: thread_samples and thread_weight of the selection */
	enum ctx_status (*print)(const struct ctx_report_input *input,
				 const struct ctx_report_options *options, struct ctx_err *err);
};

/*
 * header, overview, samples, functions, objects, lines, pcs, source, disasm, tree, callers-callees, stacks, states, wakers, heap,
 * leaks, sync, io, threads, processes, timeline, index; ends with a NULL name.
 */
const struct ctx_report_kind *ctx_report_kinds(void);

/* NULL: no such report. Exact name only. */
const struct ctx_report_kind *ctx_report_find(const char *name);

/*
 * The report that gprofng and Solaris Studio call so: "calltree", "iostat". `*ret_takes_function`: a name behind it is for
 * options.function ("csingle=FUNC"). NULL: none.
 */
const struct ctx_report_kind *ctx_report_find_alias(const char *name, bool *ret_takes_function);

/* The aliases one by one, and the report that each means; NULL behind the last. */
const char *ctx_report_alias(size_t i, const char **ret_report);

/*
 * Prints text so that no byte of it can do harm: text format: control characters, DEL, C1, bidirectional
 * overrides and invalid UTF-8 as \xHH. For other printers of names (SQL results, errors).
 */
void ctx_report_put_name(FILE *out, const char *name);

/* Prints `text` as a JSON string with its quotes, escaped the same way as in reports. */
void ctx_report_put_json_string(FILE *out, const char *text);

#endif
