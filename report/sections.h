/*
 * Reports of several tables. In text each table has its own columns; in JSON and CSV all rows are
 * in one table, whose first key, "section", names the section of the row. A row has the keys of its
 * section; in CSV the other fields are empty.
 */
#ifndef CTX_REPORT_SECTIONS_H
#define CTX_REPORT_SECTIONS_H

#include "report/out.h"

#define CTX_SECTION_COLUMNS 14u /* that a text table may have */

struct ctx_section_column { /* of text */
	unsigned column;    /* of the report */
	const char *title;
};

struct ctx_section {
	const char *name;  /* "stack" */
	const char *title; /* of text; NULL: none */
	const struct ctx_section_column *shown;
	size_t n_shown;
};

struct ctx_sections {
	struct ctx_out *out;
	const struct ctx_column *columns; /* of the report; the first is "section" */
	size_t n_columns;
	const struct ctx_section *at;
	struct ctx_column text[CTX_SECTION_COLUMNS];
};

/*
 * Begins a section and ends the previous table. `title`: overrides the section's own; NULL: keeps
 * it.
 */
void ctx_sections_begin(struct ctx_sections *sections, const struct ctx_section *section, const char *title);

/* Clears the cells of a row: all are null. */
void ctx_sections_clear(const struct ctx_sections *sections, struct ctx_cell *cells);

/*
 * A row; `cells` by column of the report, the first is filled in. `name`: another section's name
 * for JSON and CSV; NULL: this one.
 */
void ctx_sections_row_begin(struct ctx_sections *sections, struct ctx_cell *cells, const char *name);
void ctx_sections_row_end(struct ctx_sections *sections);

/* Ends the last table. */
void ctx_sections_end(struct ctx_sections *sections);

#endif
