/*
 * What threads waited for, and where, for the HTML page: a place for every call stack of a wait.
 *
 * The page adds waits up by place for any interval and threads. A place is what the report `waits`
 * has a row of: state, kind and caller in the program (model/wait_kind.h).
 */
#ifndef CTX_REPORT_HTML_WAITS_H
#define CTX_REPORT_HTML_WAITS_H

#include "base/map64.h"
#include "model/wait_kind.h"
#include "report/html_metrics.h"

struct ctx_html_wait_place {
	struct ctx_wait_place place;
	enum ctx_thread_state state;
	uint64_t longest_ns; /* span of the run */
};

struct ctx_html_wait_stack {
	uint32_t base;	/* number among the page's */
	uint32_t stack; /* CCT node */
	uint32_t place;
};

struct ctx_html_waits {
	struct ctx_html_wait_place *places; /* owned */
	size_t n_places, places_cap;
	struct ctx_html_wait_stack *stacks; /* owned; by base, then ascending stack */
	size_t n_stacks, stacks_cap;
	struct ctx_map64 place_of; /* by caller, kind and state */
};

/*
 * The places of all stacks with cells of a base that is a state of waits. O(cells + stacks * depth).
 * Fails with CTX_E_NOMEM. Call ctx_html_waits_deinit in any case.
 */
CTX_MUST_CHECK enum ctx_status ctx_html_waits_make(struct ctx_html_waits *waits,
						   const struct ctx_html_metrics *metrics,
						   struct ctx_err *err);
void ctx_html_waits_deinit(struct ctx_html_waits *waits);

#endif
