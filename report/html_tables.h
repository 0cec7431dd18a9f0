/*
 * A page of tables: HTML without a script, built from the reports printed to it
 * (report/out_html.c).
 *
 *	recording --heading--> report --table, lines--> report ... --links between functions--> file
 *
 * Function names link to the function's row in the report callers-callees, or else to its row in
 * the report functions, if the page has one; the targets are resolved when all reports are printed.
 * Names are escaped and may contain any bytes.
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

/*
 * Begins a recording: the following reports are about it. The first one determines the title of the
 * page.
 */
void ctx_html_tables_recording(struct ctx_html_tables *page, const char *name);

/* Writes the page. Fails with CTX_E_NOMEM. The caller checks `out` for write errors (ferror). */
CTX_MUST_CHECK enum ctx_status ctx_html_tables_write(const struct ctx_html_tables *page, FILE *out,
						     struct ctx_err *err);

/* For the back end. */

/*
 * The body so far. If memory runs out, the buffer fails and ctx_html_tables_write returns the
 * error.
 */
struct ctx_buf *ctx_html_tables_body(struct ctx_html_tables *page);

/*
 * Begins the section of a report, with an entry in the contents. The constant name is its id; the
 * second time it is "tree-2".
 */
void ctx_html_tables_section(struct ctx_html_tables *page, const char *report);

/* Whether this text (a warning, a selection) is new for this recording; marks it as printed. */
bool ctx_html_tables_is_new(struct ctx_html_tables *page, const char *text);

/*
 * Appends ` id="f12"` for the anchor of a cell if it is the first one with this id; otherwise
 * nothing.
 */
void ctx_html_tables_put_anchor(struct ctx_html_tables *page, const struct ctx_cell *cell);

/* Appends a cell's name, linked when the page is written. */
void ctx_html_tables_put_name(struct ctx_html_tables *page, const struct ctx_cell *cell);

#endif
