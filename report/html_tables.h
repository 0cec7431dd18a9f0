/*
 * A page of tables: HTML without a script, made of the reports that are printed to it (report/out_html.c).
 *
 *	recording --heading--> report --table, lines--> report ... --links between functions--> file
 *
 * Names of functions lead to the row of the report callers-callees that is about the function, or to its row of the report
 * functions, whichever the page has; that is known when all reports are printed. Names are text, whatever bytes they have.
 */
#ifndef CTX_REPORT_HTML_TABLES_H
#define CTX_REPORT_HTML_TABLES_H

#include "base/buf.h"
#include "report/cells.h"

#include <stdio.h>

struct ctx_html_tables;

/* CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_html_tables_create(struct ctx_html_tables **ret, struct ctx_err *err);
void ctx_html_tables_destroy(struct ctx_html_tables *page); /* NULL does nothing */

/* Begins a recording: what follows is about it. The first one gives the page its title. */
void ctx_html_tables_recording(struct ctx_html_tables *page, const char *name);

/* Writes the page. CTX_E_NOMEM. Write errors of `out` are the caller's to find (ferror). */
CTX_MUST_CHECK enum ctx_status ctx_html_tables_write(const struct ctx_html_tables *page, FILE *out,
						     struct ctx_err *err);

/* For the back end. */

/* The body so far. Memory that runs out fails it, and comes out of ctx_html_tables_write. */
struct ctx_buf *ctx_html_tables_body(struct ctx_html_tables *page);

/* Begins the section of a report (a constant name, which is its id, "tree-2" the second time), with an entry in the contents. */
void ctx_html_tables_section(struct ctx_html_tables *page, const char *report);

/* Whether this text (a warning, a selection) was not said yet of this recording; it is then. */
bool ctx_html_tables_is_new(struct ctx_html_tables *page, const char *text);

/* Appends ` id="f12"` for the anchor of a cell, if it is the first such place; else nothing. */
void ctx_html_tables_put_anchor(struct ctx_html_tables *page, const struct ctx_cell *cell);

/* Appends a cell's name, linked when the page is written. */
void ctx_html_tables_put_name(struct ctx_html_tables *page, const struct ctx_cell *cell);

#endif
