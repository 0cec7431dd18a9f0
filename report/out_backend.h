/*
 * The back ends of report/out.h: one table of functions for each format.
 *
 *	out_text.c	rows are buffered until the section ends, then aligned
 *	out_json.c	streamed through yajl, nested lists allowed
 *	out_csv.c	streamed
 *	out_html.c	to the page of the options (report/html_tables.h)
 *	out_rows.c	to the rows of the options (report/rows.h)
 *
 * Reports do not include this: they print through report/out.h.
 */
#ifndef CTX_REPORT_OUT_BACKEND_H
#define CTX_REPORT_OUT_BACKEND_H

#include "base/arena.h"
#include "base/buf.h"
#include "report/cells.h"
#include "report/head.h"
#include "report/report.h"

struct ctx_out;

/* NULL: not supported by the format. After a failure only `end` is called. */
struct ctx_out_backend {
	bool for_reading; /* for people: titles, drawings, lines of text; else keys and every value */
	void (*begin)(struct ctx_out *out); /* prints the head */
	void (*row_begin)(struct ctx_out *out, const struct ctx_cell *cells);
	void (*row_end)(struct ctx_out *out);
	void (*list_begin)(struct ctx_out *out, const char *key);
	void (*list_row_begin)(struct ctx_out *out, const struct ctx_column *columns, size_t n,
			       const struct ctx_cell *cells);
	void (*list_row_end)(struct ctx_out *out);
	void (*list_name)(struct ctx_out *out, const char *name);
	void (*list_end)(struct ctx_out *out);
	void (*map)(struct ctx_out *out, const char *key, const struct ctx_column *columns, size_t n,
		    const struct ctx_cell *cells);
	void (*section)(struct ctx_out *out, const char *title);
	void (*line)(struct ctx_out *out, const char *text);
	void (*name_line)(struct ctx_out *out, const char *before, const struct ctx_cell *cell);
	void (*wrapped)(struct ctx_out *out, const char *first, const char *text, unsigned indent);
	void (*rows_end)(struct ctx_out *out);
	void (*end)(struct ctx_out *out);
};

extern const struct ctx_out_backend ctx_out_text, ctx_out_json, ctx_out_csv, ctx_out_html, ctx_out_rows;

/* HTML: the last element of the page so far. */
enum ctx_out_place { CTX_OUT_NOTHING, CTX_OUT_TABLE, CTX_OUT_LINES };

struct ctx_out_row { /* text: a kept row */
	struct ctx_cell *cells;
	bool rule_before;
};

struct ctx_out {
	const struct ctx_out_backend *backend;
	const struct ctx_profile *profile;
	const struct ctx_report_options *options;
	struct ctx_head head;
	uint64_t part_weight; /* what percentages are of, with has_part; else the totals of the head */
	bool has_part;
	const struct ctx_column *columns;
	size_t n_columns;
	const struct ctx_scale *scales; /* text: by column, for columns in a group; NULL: no groups */
	const char *const *
		groups; /* text: by column; adjacent columns with the same pointer share the heading. Safe text */
	struct ctx_arena arena; /* until the section ends */
	struct ctx_buf line;	/* scratch */
	struct ctx_out_row *rows;
	size_t n_rows, rows_cap;
	bool next_has_rule;
	bool own_title;	 /* text: begin prints nothing */
	bool whole_line; /* text: the next line is not cut */
	enum ctx_out_place at;
	void *gen;		/* yajl_gen */
	bool gen_at_row;	/* the next comma of the generator ends a line */
	enum ctx_status status; /* first failure */
};

/* Records a failure; the first one of a report is kept. */
void ctx_out_fail(struct ctx_out *out, enum ctx_status status);

/* printf into memory that is valid until the section ends; "" if memory runs out. */
const char *ctx_out_format(struct ctx_out *out, const char *fmt, ...) CTX_PRINTF(2, 3);

/* What percentages are of: the weight of the part, else of the whole selection. */
uint64_t ctx_out_whole(const struct ctx_out *out);

/* Whether a column is below the heading of a group. */
bool ctx_out_in_group(const struct ctx_out *out, size_t column);

/*
 * Appends the number of a cell for people: in the scale of the column, as a share of the total, in
 * ms or MiB.
 */
void ctx_out_put_figure(const struct ctx_out *out, size_t column, const struct ctx_cell *cell,
			struct ctx_buf *buf);

#endif
