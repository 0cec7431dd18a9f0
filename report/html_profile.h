/*
 * The binary profile of the HTML page, version 5. The format is in docs/html-page.md.
 */
#ifndef CTX_REPORT_HTML_PROFILE_H
#define CTX_REPORT_HTML_PROFILE_H

#include "base/buf.h"
#include "report/html_calls.h"
#include "report/html_metrics.h"
#include "report/html_sources.h"

/*
 * Appends the profile: the CCT nodes, functions and objects that cells and calls need, all processes and
 * threads, and the cells; then the sources, the places of waits, the states and the calls (NULL: none).
 * Functions, objects and CCT nodes are renumbered in the order of the profile; ids of threads are
 * the profile's. Fails with CTX_E_NOMEM.
 */
struct ctx_html_profile {
	const struct ctx_html_metrics *metrics;
	const struct ctx_html_sources *sources;
	const struct ctx_cells *states;	    /* NULL: none */
	const struct ctx_html_calls *calls; /* NULL: none */
};

CTX_MUST_CHECK enum ctx_status ctx_html_profile_encode(const struct ctx_html_profile *page,
						       struct ctx_buf *out, struct ctx_err *err);

#endif
