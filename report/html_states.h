/*
 * Thread states of the HTML page: how each bucket of time of each thread divides among the states. docs/html-page.md has the layout.
 *
 * Most buckets are wholly in one state: rows are runs of such ones, or a single bucket that several states share.
 */
#ifndef CTX_REPORT_HTML_STATES_H
#define CTX_REPORT_HTML_STATES_H

#include "base/buf.h"
#include "report/html_cells.h"

/* Appends the part. `states` as ctx_cells_collect_states makes them; `end_ns`: of the run. Memory that runs out fails the buffer. */
void ctx_html_states_put(const struct ctx_cells *states, uint64_t end_ns, struct ctx_buf *out);

#endif
