/*
 * A report as rows: what the text format prints, as cells.
 *
 *	ctx_report_print with CTX_REPORT_ROWS --out_rows.c--> struct ctx_rows --ctx_rows_put--> a line of any width
 *
 * For those who show a report themselves: rows know their function, and the text of one is made only when
 * it is shown. Nothing is borrowed from the source.
 */
#ifndef CTX_REPORT_ROWS_H
#define CTX_REPORT_ROWS_H

#include "report/out_backend.h"

enum ctx_rows_kind {
	CTX_ROWS_CELLS,
	CTX_ROWS_TITLE, /* of a section */
	CTX_ROWS_LINE,	/* a remark */
};

struct ctx_rows_row {
	enum ctx_rows_kind kind;
	struct ctx_cell *cells; /* of the columns with titles; NULL: a title or a line */
	const char *text;	/* of a title or a line: safe text */
	uint32_t function;	/* id; CTX_NONE: the row is of none */
};

struct ctx_rows_column {
	size_t at; /* among the report's columns */
	char title[32];
	size_t width; /* of the title and of all cells; of the last column of the title alone */
	bool measured;
	uint64_t most; /* the largest number so far */
};

/* All zero: empty. */
struct ctx_rows {
	struct ctx_rows_column *columns; /* owned */
	size_t n_columns;
	struct ctx_rows_row *rows; /* owned */
	size_t n, cap;
	const char **notes; /* owned: warnings of the head, safe texts */
	size_t n_notes, notes_cap;
	uint64_t weight, samples; /* totals of the report */
	struct ctx_scale scale;
	struct ctx_arena arena; /* of all texts and cells */
	struct ctx_out figures; /* columns, scale and totals, to format numbers */
	bool ascii;
};

void ctx_rows_deinit(struct ctx_rows *rows);

/* Appends the titles of the columns. */
void ctx_rows_put_heading(const struct ctx_rows *rows, struct ctx_buf *buf);

/* Appends a row, aligned with the others; the last column is cut so that all are `width` columns. */
void ctx_rows_put(const struct ctx_rows *rows, size_t row, size_t width, struct ctx_buf *buf);

#endif
