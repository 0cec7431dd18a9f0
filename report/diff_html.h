/*
 * The page of a comparison (docs/html-page.md): the tables of `--format json`, the time lines of the sides, and what
 * the recordings lack, as one JSON text in a page that sorts, searches, and draws it.
 */
#ifndef CTX_REPORT_DIFF_HTML_H
#define CTX_REPORT_DIFF_HTML_H

#include "compare/diff.h"
#include "report/diff_report.h"

#include <stdio.h>

struct ctx_diff_html;

/* With the time lines and notes of the sides of `spec`, which is not kept. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_diff_html_create(const struct ctx_diff_spec *spec,
						    struct ctx_diff_html **ret, struct ctx_err *err);
void ctx_diff_html_destroy(struct ctx_diff_html *page); /* NULL is fine */

/* Appends what ctx_diff_report_print prints in JSON with these options; all rows. Its errors; then nothing is appended. */
CTX_MUST_CHECK enum ctx_status ctx_diff_html_add(struct ctx_diff_html *page, const struct ctx_diff_spec *spec,
						 const struct ctx_diff_named *named,
						 const struct ctx_report_options *options,
						 struct ctx_err *err);

/* What the page does not have, as a sentence without its full stop. */
void ctx_diff_html_leave_out(struct ctx_diff_html *page, const char *text);

/* The text of the tables: what a browser has to read. */
size_t ctx_diff_html_size(const struct ctx_diff_html *page);

/*
 * Writes the page, at most `max_bytes` large. CTX_E_LIMIT: it would be larger; nothing is written then. The caller
 * checks `out` for write errors.
 */
CTX_MUST_CHECK enum ctx_status ctx_diff_html_write(const struct ctx_diff_html *page, size_t max_bytes,
						   FILE *out, struct ctx_err *err);

#endif
