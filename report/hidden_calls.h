/*
 * Completed calls without those of hidden frames: what these ran in themselves is their callers' (report/hiding_source.h).
 *
 *	main 10, self 4 > helper 6, self 2 > lex 4, self 4	without helper: main 10, self 6 > lex 4, self 4
 *
 * Sums of calls (struct ctx_profile_losses, call_log) are in no order: the time of a hidden path comes as its
 * caller's, with no calls.
 */
#ifndef CTX_REPORT_HIDDEN_CALLS_H
#define CTX_REPORT_HIDDEN_CALLS_H

#include "model/report_source.h"

struct ctx_hidden_lane;

struct ctx_hidden_calls {
	const struct ctx_trie *cct; /* borrowed; of the stacks that come */
	const uint32_t *stack_of;   /* borrowed; by node: without the hidden frames */
	bool sums;		    /* sums of calls come */
	ctx_report_call_fn each;    /* gets those that are left */
	void *context;
	struct ctx_hidden_lane *lanes; /* owned; by thread */
	size_t n_lanes, lanes_cap;
};

/*
 * A ctx_report_call_fn; `context` is a struct ctx_hidden_calls. Calls that are no sums come in order of their
 * ends. CTX_E_NOMEM, and as `each` does.
 */
CTX_MUST_CHECK enum ctx_status ctx_hidden_calls_pass(void *context, const struct ctx_traced *call,
						     bool passes, struct ctx_err *err);
void ctx_hidden_calls_deinit(struct ctx_hidden_calls *calls);

#endif
