/*
 * The file of a page: a template with metadata (JSON) and packed data (gzip, base64) in their places.
 */
#ifndef CTX_REPORT_HTML_FILE_H
#define CTX_REPORT_HTML_FILE_H

#include "base/buf.h"
#include "report/html_template.h"

#include <stdio.h>

/* Replaces what is in `out`. CTX_E_LIMIT: 2 GB and more; CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_html_gzip(const struct ctx_buf *in, struct ctx_buf *out,
					     struct ctx_err *err);

struct ctx_html_file {
	const struct ctx_buf *head;   /* JSON, any text in it */
	const struct ctx_buf *packed; /* of ctx_html_gzip */
};

/* Bytes of the whole file. */
size_t ctx_html_file_size(struct ctx_html_template page, const struct ctx_html_file *file);

/* The caller checks `out` for write errors. */
CTX_MUST_CHECK enum ctx_status ctx_html_file_write(struct ctx_html_template page,
						   const struct ctx_html_file *file, FILE *out,
						   struct ctx_err *err);

#endif
