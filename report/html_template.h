/*
 * The built pages (report/html/page.html, diff.html), embedded in the program.
 */
#ifndef CTX_REPORT_HTML_TEMPLATE_H
#define CTX_REPORT_HTML_TEMPLATE_H

#include <stddef.h>

struct ctx_html_template {
	const char *bytes; /* borrowed; not zero-terminated */
	size_t n;
};

struct ctx_html_template ctx_html_template(void);
struct ctx_html_template ctx_html_diff_template(void); /* of a comparison */

#endif
