/*
 * Where rows go: one way to print a table, three formats behind it.
 *
 *	report -> ctx_out_row -> out_text.c	kept until the section ends, measured, aligned
 *			      -> out_json.c	streamed through yajl, nested lists allowed
 *			      -> out_csv.c	streamed
 *
 * Failures of a row stick (memory, a full disk) and come out of ctx_out_end. Names in cells are borrowed
 * until the section ends.
 */
#ifndef CTX_REPORT_OUT_H
#define CTX_REPORT_OUT_H

#include "base/arena.h"
#include "base/buf.h"
#include "report/figures.h"
#include "report/report.h"

enum ctx_style {
	CTX_STYLE_COUNT,   /* an integer as it is */
	CTX_STYLE_WEIGHT,  /* scaled to ms or s in text; its title gets the unit */
	CTX_STYLE_PERCENT, /* in text: the number's share of the total weight */
	CTX_STYLE_TIME,	   /* ns; ms in text */
	CTX_STYLE_BYTES,   /* MiB in text */
	CTX_STYLE_NAME,	   /* text, left-aligned; cut when it is the last column */
	CTX_STYLE_PLACE, /* a file and line: has at most half of what numbers leave, directories go first; one a table */
	CTX_STYLE_SOURCE, /* the last column: a line of a program, cut at its end */
};

struct ctx_column {
	const char *key;   /* JSON and CSV; NULL: in text only */
	const char *title; /* text; NULL: in JSON and CSV only */
	enum ctx_style style;
};

enum ctx_cell_kind {
	CTX_CELL_NULL, /* JSON null, otherwise empty */
	CTX_CELL_NUMBER,
	CTX_CELL_SIGNED,
	CTX_CELL_NAME,
	CTX_CELL_BOOL,	 /* JSON true, false; otherwise "true", "false" */
	CTX_CELL_ABSENT, /* JSON: not even the key; otherwise empty */
};

struct ctx_cell {
	enum ctx_cell_kind kind;
	uint64_t number;     /* CTX_CELL_SIGNED: converted from int64_t */
	const char *name;    /* any bytes */
	const char *drawing; /* text: safe text before the name, kept whole; NULL none. Copied. */
	const char
		*object; /* text: shown behind the name as " [object]", without its directories; NULL none */
	const char *index; /* text: safe text behind the name, " [3]"; NULL none. Copied. */
};

static inline struct ctx_cell ctx_cell_number(uint64_t number)
{
	return (struct ctx_cell){.kind = CTX_CELL_NUMBER, .number = number};
}

static inline struct ctx_cell ctx_cell_signed(int64_t number)
{
	return (struct ctx_cell){.kind = CTX_CELL_SIGNED, .number = (uint64_t)number};
}

static inline struct ctx_cell ctx_cell_name(const char *name) /* NULL: an empty cell */
{
	return (struct ctx_cell){.kind = name != NULL ? CTX_CELL_NAME : CTX_CELL_NULL, .name = name};
}

static inline struct ctx_cell ctx_cell_bool(bool value)
{
	return (struct ctx_cell){.kind = CTX_CELL_BOOL, .number = value};
}

/* A key that is there only where it is true. */
static inline struct ctx_cell ctx_cell_if(bool value)
{
	return (struct ctx_cell){.kind = value ? CTX_CELL_BOOL : CTX_CELL_ABSENT, .number = value};
}

/* What the selection holds, for heads and percentages. */
struct ctx_totals {
	uint64_t samples, weight; /* with what is omitted */
	uint64_t truncated;	  /* samples whose stack begins at a <Truncated-stack> of any reason */
};

/* What a report is about that is not about a metric's samples. */
struct ctx_out_topic {
	struct ctx_metric_info metric;
	struct ctx_totals totals;
	const char *counted;	 /* what totals.samples are: "waits" */
	const char *note;	 /* the first of the warnings; NULL none */
	const char *second_note; /* the next; NULL none */
};

struct ctx_out_row { /* text: a kept row */
	struct ctx_cell *cells;
	bool rule_before;
};

/* Columns that a heading of a group takes at least. */
size_t ctx_out_heading_width(const char *heading);

struct ctx_out {
	const struct ctx_report_input *input;
	const struct ctx_report_options *options;
	const char *report;
	const char *note; /* the first of the warnings; NULL none */
	const struct ctx_column *columns;
	size_t n_columns;
	struct ctx_totals totals;
	struct ctx_scale scale;
	const struct ctx_scale *scales; /* text: by column, of columns in a group; NULL: no groups */
	const char *const *
		groups; /* text: by column; neighbours with the same (pointer) have this heading together. Safe text */
	const struct ctx_out_topic *topic; /* NULL: the metric */
	struct ctx_arena arena;		   /* until the section ends */
	struct ctx_buf line;		   /* scratch */
	struct ctx_out_row *rows;
	size_t n_rows, rows_cap;
	bool next_has_rule;
	void *gen;		/* yajl_gen */
	bool gen_at_row;	/* the next comma of the generator ends a line */
	enum ctx_status status; /* first failure */
};

/*
 * Begins a report: checks nothing, prints the head. `out` is released by ctx_out_end in any case. `columns`
 * must outlive it.
 */
void ctx_out_begin(struct ctx_out *out, const struct ctx_report_input *input,
		   const struct ctx_report_options *options, const char *report,
		   const struct ctx_column *columns, size_t n_columns);

/* The same for a report about something else. Nothing of `topic` is read after ctx_out_end. */
void ctx_out_begin_topic(struct ctx_out *out, const struct ctx_report_input *input,
			 const struct ctx_report_options *options, const struct ctx_out_topic *topic,
			 const char *report, const struct ctx_column *columns, size_t n_columns);

/*
 * Begins a report that is about the whole run whatever was selected: its head says so, and `note` stands
 * among the warnings when something was selected. `whole` is filled from `input`; it must outlive `out`.
 */
void ctx_out_begin_whole(struct ctx_out *out, const struct ctx_report_input *input,
			 struct ctx_report_input *whole, const char *note,
			 const struct ctx_report_options *options, const char *report,
			 const struct ctx_column *columns, size_t n_columns);

/* The metric, or what the report is about instead. */
struct ctx_metric_info ctx_out_metric(const struct ctx_out *out);

/* One cell a column. */
void ctx_out_row(struct ctx_out *out, const struct ctx_cell *cells);

/*
 * JSON: a row whose lists follow; the other formats print the cells at ctx_out_row_begin and ignore the rest.
 */
void ctx_out_row_begin(struct ctx_out *out, const struct ctx_cell *cells);
void ctx_out_list_begin(struct ctx_out *out, const char *key);
void ctx_out_list_row(struct ctx_out *out, const struct ctx_column *columns, size_t n,
		      const struct ctx_cell *cells);
void ctx_out_list_name(struct ctx_out *out, const char *name); /* a text as an item */
void ctx_out_list_end(struct ctx_out *out);
/* JSON: an object as the value of a key of the row. */
void ctx_out_map(struct ctx_out *out, const char *key, const struct ctx_column *columns, size_t n,
		 const struct ctx_cell *cells);
void ctx_out_row_end(struct ctx_out *out);

/* Text: a rule before the next row. */
void ctx_out_rule(struct ctx_out *out);

/* Text: prints the table so far and forgets it; then `title`, if not NULL (any bytes). */
void ctx_out_section(struct ctx_out *out, const char *title);

/* Text: a line of its own, of safe text, cut to the width. Prints the table so far first. */
void ctx_out_line(struct ctx_out *out, const char *text);

/* Text: "(3 more functions)"; nothing for 0. `what` is one of them. */
void ctx_out_more(struct ctx_out *out, uint64_t left_out, const char *what);

/* Ends the rows; JSON lists after it (ctx_out_list_begin, ...) are keys of the report. */
void ctx_out_rows_end(struct ctx_out *out);

/* Ends the report and releases `out`. Returns the first failure. */
CTX_MUST_CHECK enum ctx_status ctx_out_end(struct ctx_out *out, struct ctx_err *err);

/* printf into memory that lives until the section ends; "" when memory is short. */
const char *ctx_out_format(struct ctx_out *out, const char *fmt, ...) CTX_PRINTF(2, 3);

void ctx_out_fail(struct ctx_out *out, enum ctx_status status);
bool ctx_out_is_text(const struct ctx_out *out);

/* The back ends. */
void ctx_out_text_row(struct ctx_out *out, const struct ctx_cell *cells);
void ctx_out_text_flush(struct ctx_out *out);
void ctx_out_csv_header(struct ctx_out *out);
void ctx_out_csv_row(struct ctx_out *out, const struct ctx_cell *cells);
void ctx_out_json_begin(struct ctx_out *out);
void ctx_out_json_rows_end(struct ctx_out *out);
void ctx_out_json_end(struct ctx_out *out);
void ctx_out_json_row_begin(struct ctx_out *out);
void ctx_out_json_row_end(struct ctx_out *out);
void ctx_out_json_cells(struct ctx_out *out, const struct ctx_column *columns, size_t n,
			const struct ctx_cell *cells);
void ctx_out_json_list_begin(struct ctx_out *out, const char *key);
void ctx_out_json_name(struct ctx_out *out, const char *name);
void ctx_out_json_map(struct ctx_out *out, const char *key, const struct ctx_column *columns, size_t n,
		      const struct ctx_cell *cells);
void ctx_out_json_list_end(struct ctx_out *out);

#endif
