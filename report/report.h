/*
 * Reports: what a source answers in, text, JSON, CSV or HTML tables out. Pure: no database, no files but the stream to
 * print to.
 *
 * A report pulls histograms and everything else that it shows from a source (model/report_source.h); where they come from
 * it does not know. The JSON and CSV keys are a contract: keys are added, never renamed (docs/json.md).
 * Text fits `width` columns: names are cut with an ellipsis in the middle, numbers never. Names are data:
 * control characters, escapes and invalid UTF-8 are shown harmless in every format.
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
};

struct ctx_html_tables;

struct ctx_report_options {
	enum ctx_report_format format;
	FILE *out;
	struct ctx_html_tables *page; /* of CTX_REPORT_HTML (report/html_tables.h) */
	unsigned width;		      /* columns of text; 0: not limited */
	bool color;
	bool ascii;	/* no Unicode drawing (a terminal without UTF-8) */
	uint32_t limit; /* rows (functions, stanzas, stacks, tree lines; source, disasm: sections); 0: all */
	bool per_thread; /* a tree or list for each thread; wakers: threads of one name are not put together, however many they are */
	bool whole; /* source, disasm: long runs without samples are printed too (--limit 0); wakers: all of them */
	const char *sort; /* a row key such as "inclusive"; NULL: the report's own order */
	const char *
		subject; /* source, disasm: what of, FUNC or FILE; NULL: the hottest function. wakers: FUNC */
	const char *by;	 /* index: its key; NULL: as --by says */
	const char *function; /* only stanzas, stacks, subtrees with a function of this name; NULL: all */
	double min_percent; /* tree: leave out nodes with less of the total than this; they are summed in a line */
};

/* Which metrics a report shows. */
enum ctx_report_metrics {
	CTX_REPORT_ONE_METRIC, /* the first that is selected; more are refused */
	CTX_REPORT_METRICS,    /* several side by side */
	CTX_REPORT_NO_METRIC,  /* it is not about a metric: whatever is selected does not matter */
};

/* A name that gprofng or Solaris Studio has for a report; '_' is '-'. */
struct ctx_report_alias {
	const char *name;
	bool takes_function; /* "csingle=FUNC": with --function FUNC */
};

/*
 * The declaration of a report, which stands in its own file. Refusals of options, --help, the order of gprofng's metrics and
 * names follow from it.
 */
struct ctx_report_kind {
	const char *name; /* "callers-callees" */
	enum ctx_report_metrics metrics;
	bool takes_subject; /* "--report source=FUNC" */
	bool no_function;   /* has no rows of functions or stacks to choose from by --function */
	const char *no_cpu; /* why it goes without --cpu; NULL: it does not */
	const char *
		order; /* why it cannot be sorted, ": it is in order of time"; NULL: by sort keys of its own */
	unsigned traced; /* 1 << enum ctx_traced_kind: its rows are such operations */
	bool needs_key;	 /* wants --by or a key of its own */
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
 * Prints a report to options->out. CTX_E_ARG, CTX_E_NOTFOUND: options that it cannot do (an order, a function that is not in
 * the recording); nothing is printed then. Otherwise what the source fails with, CTX_E_IO or CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_report_print(const struct ctx_report_kind *kind,
						struct ctx_report_source *source,
						const struct ctx_report_options *options,
						struct ctx_err *err);

/* NULL: no such report. Exact name only. */
const struct ctx_report_kind *ctx_report_find(const char *name);

/*
 * The report that gprofng and Solaris Studio call so: "calltree", "iostat". `*ret_takes_function`: a name behind it is for
 * options.function ("csingle=FUNC"). NULL: none.
 */
const struct ctx_report_kind *ctx_report_find_alias(const char *name, bool *ret_takes_function);

/*
 * Prints text so that no byte of it can do harm: text format: control characters, DEL, C1, bidirectional
 * overrides and invalid UTF-8 as \xHH. For other printers of names (SQL results, errors).
 */
void ctx_report_put_name(FILE *out, const char *name);

/* Prints `text` as a JSON string with its quotes, escaped the same way as in reports. */
void ctx_report_put_json_string(FILE *out, const char *text);

#endif
