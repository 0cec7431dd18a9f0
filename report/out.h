/*
 * Output of tables: one interface, with a back end for each format (report/out_backend.h).
 *
 *	report -> ctx_out_begin, ctx_out_row, ..., ctx_out_end -> out_text.c, out_json.c, out_csv.c, out_html.c
 *
 * Failures of a row (memory, a full disk) are sticky and returned by ctx_out_end. Names in cells
 * are borrowed until the section ends.
 */
#ifndef CTX_REPORT_OUT_H
#define CTX_REPORT_OUT_H

#include "report/out_backend.h"

/* The header data of a report. Everything is borrowed until ctx_out_end. */
struct ctx_out_spec {
	const struct ctx_report_kind *kind;
	const struct ctx_report_selection *selection;
	const struct ctx_report_options *options;
	const struct ctx_column *columns; /* NULL: the kind's */
	size_t n_columns;
	struct ctx_totals totals; /* of the reported selection, including omitted weight */
	struct ctx_report_omitted omitted;
	bool has_other; /* the omitted weight has a row <Other> */
	const uint64_t *
		more_weights; /* n_more: of the metrics from the second on; a report of one metric has none */
	size_t n_more;
	const struct ctx_head_topic *topic; /* the subject, if it is not a metric; NULL: the first metric */
	/*
	 * Not NULL: the report is about the whole run, whatever is selected. Its header says so,
	 * and if something is selected, this is one of the warnings. `totals` is ignored.
	 */
	const char *whole_note;
	const char *preamble; /* text: printed before the report header; NULL none */
	bool own_title;	      /* text: the report prints title and warnings itself */
};

/*
 * Begins a report: checks nothing, prints the report header. `out` is released by ctx_out_end in
 * any case.
 */
void ctx_out_begin(struct ctx_out *out, const struct ctx_out_spec *spec);

/* The totals, omitted weights and <Other> of a report of histograms. */
void ctx_out_spec_parts(struct ctx_out_spec *spec, const struct ctx_report_parts *parts);

/*
 * Begins the part of one thread: percentages are of its weight, with what it omits of <Other>.
 * CTX_NONE: all threads together, of the totals. Only where no table is open.
 */
void ctx_out_part(struct ctx_out *out, uint32_t thread, uint64_t weight);

/* One cell a column. */
void ctx_out_row(struct ctx_out *out, const struct ctx_cell *cells);

/*
 * JSON: a row with lists, which follow; the other formats print the cells at ctx_out_row_begin and
 * ignore the rest.
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

/* The same, never cut: for commands that a person copies. */
void ctx_out_whole_line(struct ctx_out *out, const char *text);

/* For reading: a line of safe text and a function's name with its object, not cut in the middle. */
void ctx_out_name_line(struct ctx_out *out, const char *before, const struct ctx_cell *cell);

/*
 * For reading: "<first><text>", wrapped at the width, further lines indented by `indent` columns.
 * Both may hold any bytes; a newline in `text` ends a line. No table may be open.
 */
void ctx_out_wrapped(struct ctx_out *out, const char *first, const char *text, unsigned indent);

/* For reading: "(3 more functions)"; nothing for 0. `what` is the singular. */
void ctx_out_more(struct ctx_out *out, uint64_t left_out, const char *what);

/* Ends the rows; JSON lists after it (ctx_out_list_begin, ...) are keys of the report. */
void ctx_out_rows_end(struct ctx_out *out);

/* Ends the report and releases `out`. Returns the first failure. */
CTX_MUST_CHECK enum ctx_status ctx_out_end(struct ctx_out *out, struct ctx_err *err);

/*
 * Whether the format is for people: columns with titles are shown, and lines of text are printed.
 */
bool ctx_out_is_text(const struct ctx_out *out);

/* Whether the format has lists and maps; otherwise they need not be filled. */
bool ctx_out_has_lists(const struct ctx_out *out);

#endif
