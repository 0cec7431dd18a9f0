/* The marks of the program (model/mark_spans.h) in the header of the HTML page. */
#ifndef CTX_REPORT_HTML_MARKS_H
#define CTX_REPORT_HTML_MARKS_H

#include "base/buf.h"
#include "model/report_source.h"

/*
 * Appends `,"marks":{"names":[...],"spans":[[begin, end, name, kind], ...],"left_out":n}` in ns, by begin: the 2000 longest; nothing without any. Kinds
 * are enum ctx_mark_kind. Fails as the source does, and with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_html_marks_put(struct ctx_report_source *source, struct ctx_buf *out,
						  struct ctx_err *err);

#endif
