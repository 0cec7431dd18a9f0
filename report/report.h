/*
 * Reports: data of a source in, text, JSON, CSV or HTML tables out. No database, and no files
 * except the output stream.
 *
 * A report queries histograms and all other data from a source (model/report_source.h); it does not
 * know their origin. The JSON and CSV keys are a contract: keys are added, never renamed
 * (docs/json.md). Text fits `width` columns: names are cut with an ellipsis in the middle, numbers
 * never. Names are untrusted: control characters, escapes and invalid UTF-8 are made safe in every
 * format.
 */
#ifndef CTX_REPORT_REPORT_H
#define CTX_REPORT_REPORT_H

#include "model/report_source.h"
#include "report/cells.h"

#include <stdbool.h>
#include <stdio.h>

enum ctx_report_format {
	CTX_REPORT_TEXT,
	CTX_REPORT_JSON,
	CTX_REPORT_CSV,
	CTX_REPORT_HTML, /* to the page of the options */
	CTX_REPORT_ROWS, /* to the rows of the options */
};

struct ctx_html_tables;
struct ctx_rows;

struct ctx_report_options {
	enum ctx_report_format format;
	FILE *out;
	struct ctx_html_tables *page; /* of CTX_REPORT_HTML (report/html_tables.h) */
	struct ctx_rows *rows;	      /* of CTX_REPORT_ROWS (report/rows.h): emptied first */
	unsigned width;		      /* columns of text; 0: not limited */
	bool color;		      /* titles bold, notes yellow */
	bool ascii;		      /* no Unicode drawing (a terminal without UTF-8) */
	uint32_t limit; /* rows (functions, stanzas, stacks, tree lines; source, disasm: sections); 0: all */
	bool per_thread; /* a tree or list for each thread; wakers: threads with the same name are not merged */
	bool whole; /* source, disasm: long runs without samples are printed too (--limit 0); wakers: all of them */
	const char *sort; /* a row key such as "inclusive"; NULL: the report's own order */
	const char *
		subject; /* source, disasm: the subject, FUNC or FILE; NULL: the hottest function. wakers: FUNC */
	const char *by;		 /* index: its key; NULL: that of --by */
	const char *function;	 /* only stanzas, stacks, subtrees with a function of this name; NULL: all */
	double min_percent;	 /* tree: omit nodes with less of the total than this; a line has their sum */
	bool min_percent_given;	 /* otherwise a folded tree has its own */
	bool no_fold;		 /* tree, text: a line for each node */
	bool columns;		 /* tree, callers-callees, text: all columns, estimated calls too */
	uint32_t depth;		 /* tree: levels below the top; 0: all */
	uint64_t slower_than_ns; /* calls: those that took longer are counted and listed; 0: not asked */
	bool callers;		 /* tree: upside down, who called what */
	bool cycles;		 /* sync: locks that were taken in inverse orders, instead of waits */
	const char *root;	 /* tree: call stacks begin with this function, and have it; NULL: all */
};

/* Which metrics a report shows. */
enum ctx_report_metrics {
	CTX_REPORT_ONE_METRIC, /* only the first selected one; more are refused */
	CTX_REPORT_METRICS,    /* several side by side */
	CTX_REPORT_NO_METRIC,  /* it is not about a metric: the selected ones do not matter */
};

/* A report's name in gprofng or Solaris Studio; '_' is '-'. */
struct ctx_report_alias {
	const char *name;
	bool takes_function; /* "csingle=FUNC": with --function FUNC */
};

/*
 * The declaration of a report, in the report's own file. Checks of options, --help, sort keys of
 * gprofng's metrics and aliases are derived from it.
 */
struct ctx_report_kind {
	const char *name; /* "callers-callees" */
	enum ctx_report_metrics metrics;
	bool takes_subject;  /* "--report source=FUNC" */
	bool takes_function; /* "--report tree=FUNC": with --function FUNC */
	bool alias_unfolded; /* by an alias it is gprofng's table, as with --no-fold */
	bool no_function;    /* has no rows of functions or stacks, so --function does not apply */
	const char *no_cpu;  /* why --cpu does not apply; NULL: it applies */
	const char *order;   /* why it cannot be sorted, ": it is in order of time"; NULL: it has sort keys */
	unsigned traced;     /* 1 << enum ctx_traced_kind: its rows are such operations */
	bool needs_key;	     /* needs --by or a key of its own */
	bool is_dump;	     /* there may be more rows than memory holds */
	const char *sort_exclusive,
		*sort_inclusive;		/* keys for gprofng's e.METRIC and i.METRIC; NULL: none */
	const struct ctx_report_alias *aliases; /* ended by a NULL name; NULL: none */
	const struct ctx_column *columns;
	size_t n_columns;
	enum ctx_status (*print)(struct ctx_report_source *source, const struct ctx_report_options *options,
				 struct ctx_err *err);
};

/* All reports in the order of --help; ends with NULL. */
const struct ctx_report_kind *const *ctx_report_kinds(void);

/*
 * Prints a report to options->out. CTX_E_ARG, CTX_E_NOTFOUND: options that it does not support (a
 * sort key, a function that is not in the recording); nothing is printed then. Otherwise what the
 * source fails with, CTX_E_IO or CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_report_print(const struct ctx_report_kind *kind,
						struct ctx_report_source *source,
						const struct ctx_report_options *options,
						struct ctx_err *err);

/* NULL: no such report. Exact name only. */
const struct ctx_report_kind *ctx_report_find(const char *name);

/*
 * The report with this name in gprofng or Solaris Studio: "calltree", "iostat".
 * `*ret_takes_function`: a name after "=" is for options.function ("csingle=FUNC"). NULL: none.
 */
const struct ctx_report_kind *ctx_report_find_alias(const char *name, bool *ret_takes_function);

/*
 * Prints untrusted text safely, as in text reports: control characters, DEL, C1, bidirectional
 * overrides and invalid UTF-8 as \xHH. For other output of names (SQL results, errors).
 */
void ctx_report_put_name(FILE *out, const char *name);

/* Prints `text` as a JSON string with its quotes, escaped the same way as in reports. */
void ctx_report_put_json_string(FILE *out, const char *text);

#endif
