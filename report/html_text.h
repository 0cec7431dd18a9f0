/*
 * Names and figures as text of HTML, SVG or XML. Names may contain any bytes: unsafe characters are
 * replaced (names.h), and characters that would end the text or the quoted attribute are escaped.
 */
#ifndef CTX_REPORT_HTML_TEXT_H
#define CTX_REPORT_HTML_TEXT_H

#include "base/buf.h"

#include <stddef.h>

/* Appends a name. */
void ctx_html_put_text(struct ctx_buf *buf, const char *text);

/* The same, cut to `columns` (1 or more) of a fixed-width font with an ellipsis in the middle. */
void ctx_html_put_cut(struct ctx_buf *buf, const char *text, size_t columns);

/*
 * The same for names of functions, which first lose template arguments and parameters
 * (ctx_text_shorten).
 */
void ctx_html_put_short(struct ctx_buf *buf, const char *text, size_t columns);

#endif
