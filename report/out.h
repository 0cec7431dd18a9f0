/*
 * Where rows go: one way to print a table, a back end for each format behind it (report/out_backend.h).
 *
 *	report -> ctx_out_begin, ctx_out_row, ..., ctx_out_end -> out_text.c, out_json.c, out_csv.c, out_html.c
 *
 * Failures of a row stick (memory, a full disk) and come out of ctx_out_end. Names in cells are borrowed until the section
 * ends.
 */
#ifndef CTX_REPORT_OUT_H
#define CTX_REPORT_OUT_H

#include "report/out_backend.h"

/* What a report begins with. Everything is borrowed until ctx_out_end. */
struct ctx_out_spec {
	const struct ctx_report_kind *kind;
	const struct ctx_report_selection *selection;
	const struct ctx_report_options *options;
	const struct ctx_column *columns; /* NULL: the kind's */
	size_t n_columns;
	struct ctx_totals totals; /* of what the report shows, with what is omitted */
	struct ctx_report_omitted omitted;
	bool has_other; /* <Other> has a row for what is omitted */
	const uint64_t *
		more_weights; /* n_more: of the metrics from the second on; a report of one metric has none */
	size_t n_more;
	const struct ctx_head_topic *topic; /* what it is about instead of a metric; NULL: the first metric */
	/*
	 * Not NULL: the report is about the whole run whatever was selected. Its head says so, and this stands among the
	 * warnings when something was selected. `totals` are not read.
	 */
	const char *whole_note;
	const char *preamble; /* text: comes before the head; NULL none */
};

/* Begins a report: checks nothing, prints the head. `out` is released by ctx_out_end in any case. */
void ctx_out_begin(struct ctx_out *out, const struct ctx_out_spec *spec);

/* The totals, omitted weights and <Other> of a report of histograms. */
void ctx_out_spec_parts(struct ctx_out_spec *spec, const struct ctx_report_parts *parts);

/* One cell a column. */
void ctx_out_row(struct ctx_out *out, const struct ctx_cell *cells);

/*
 * JSON: a row whose lists follow; the other formats print the cells at ctx_out_row_begin and ignore the rest.
 */
void ctx_out_row_begin(struct ctx_out *out, const struct ctx_cell *cells);
void ctx_out_list_begin(struct ctx_out *out, const char *key);
void ctx_out_list_row(struct ctx_out *out, const struct ctx_column *columns, size_t n,
		      const struct ctx_cell *cells);
void ctx_out_list_row_begin(struct ctx_out *out, const struct ctx_column *columns, size_t n,
			    const struct ctx_cell *cells); /* with lists of its own */
void ctx_out_list_row_end(struct ctx_out *out);
void ctx_out_list_name(struct ctx_out *out, const char *name); /* a text as an item */
void ctx_out_list_end(struct ctx_out *out);
/* JSON: an object as the value of a key of the row. */
void ctx_out_map(struct ctx_out *out, const char *key, const struct ctx_column *columns, size_t n,
		 const struct ctx_cell *cells);
void ctx_out_row_end(struct ctx_out *out);

/* For reading: a rule before the next row. */
void ctx_out_rule(struct ctx_out *out);

/* For reading: prints the table so far and forgets it; then `title`, if not NULL (any bytes). */
void ctx_out_section(struct ctx_out *out, const char *title);

/* For reading: a line of its own, of safe text, cut to the width. Prints the table so far first. */
void ctx_out_line(struct ctx_out *out, const char *text);

/* For reading: a line of safe text and a function's name with its object, not cut in the middle. */
void ctx_out_name_line(struct ctx_out *out, const char *before, const struct ctx_cell *cell);

/*
 * For reading: "<first><text>", wrapped at the width, further lines indented by `indent` columns. Both may hold any bytes; a
 * newline in `text` ends a line. There is no table at hand.
 */
void ctx_out_wrapped(struct ctx_out *out, const char *first, const char *text, unsigned indent);

/* For reading: "(3 more functions)"; nothing for 0. `what` is one of them. */
void ctx_out_more(struct ctx_out *out, uint64_t left_out, const char *what);

/* Ends the rows; JSON lists after it (ctx_out_list_begin, ...) are keys of the report. */
void ctx_out_rows_end(struct ctx_out *out);

/* Ends the report and releases `out`. Returns the first failure. */
CTX_MUST_CHECK enum ctx_status ctx_out_end(struct ctx_out *out, struct ctx_err *err);

/* Whether a person reads it: columns are those with titles, and lines of text are printed. */
bool ctx_out_is_text(const struct ctx_out *out);

/* Whether lists and maps go anywhere: what fills them may be left out otherwise. */
bool ctx_out_has_lists(const struct ctx_out *out);

#endif
