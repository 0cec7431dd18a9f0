/*
 * Exports that are pages or flame graphs, or need what a report shows.
 */
#ifndef CTX_REPORT_REPORT_EXPORTS_H
#define CTX_REPORT_REPORT_EXPORTS_H

#include "model/export.h"

/* html, html-static, flamegraph, lcov; ends with NULL. */
const struct ctx_export_kind *const *ctx_report_exports(void);

extern const struct ctx_export_kind ctx_export_html;	   /* the page of docs/html-page.md */
extern const struct ctx_export_kind ctx_export_flamegraph; /* docs/exports.md, like the next */
extern const struct ctx_export_kind ctx_export_html_static;
extern const struct ctx_export_kind ctx_export_lcov;

#endif
