/*
 * Thread states of the HTML page: the share of each state in each time bucket of each thread. The
 * layout is in docs/html-page.md.
 *
 * Most buckets are entirely in one state: a row is a run of such buckets, or a single bucket shared
 * by several states.
 */
#ifndef CTX_REPORT_HTML_STATES_H
#define CTX_REPORT_HTML_STATES_H

#include "base/buf.h"
#include "report/html_cells.h"

/*
 * Appends the encoded states. `states` is from ctx_cells_collect_states; `end_ns`: of the run. If
 * memory runs out, the buffer fails.
 */
void ctx_html_states_put(const struct ctx_cells *states, uint64_t end_ns, struct ctx_buf *out);

#endif
