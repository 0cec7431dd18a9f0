/*
 * The metadata of the HTML page, as JSON: the recording, its metrics, warnings, what was selected, and
 * what was left out. The layout is in docs/html-page.md.
 */
#ifndef CTX_REPORT_HTML_HEAD_H
#define CTX_REPORT_HTML_HEAD_H

#include "base/buf.h"
#include "report/html_metrics.h"

#define CTX_HTML_LEFT_OUT_MAX 8u

/* What a page lacks to be as small as was asked. */
struct ctx_html_left_out {
	char texts[CTX_HTML_LEFT_OUT_MAX][120]; /* each a clause: "the page has no thread states" */
	size_t n;
	size_t whole_bytes; /* of a page that has everything */
};

struct ctx_html_head {
	const struct ctx_export_input *input;
	const struct ctx_html_metrics *metrics;
	const struct ctx_html_left_out *left_out; /* NULL: nothing */
	struct ctx_buf warnings;		  /* owned; JSON strings with commas between them */
};

/*
 * Collects the warnings: those of the text reports about the whole run (ctx_head_warnings), and the
 * missing binaries. Before stacks are dropped. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_html_head_warn(struct ctx_html_head *head, struct ctx_err *err);

/* Appends the JSON object. Fails with CTX_E_NOMEM, and as the source of marks does. */
CTX_MUST_CHECK enum ctx_status ctx_html_head_put(const struct ctx_html_head *head, struct ctx_buf *out,
						 struct ctx_err *err);

void ctx_html_head_deinit(struct ctx_html_head *head);

#endif
