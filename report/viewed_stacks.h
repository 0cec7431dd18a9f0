/*
 * The stacks of a profile in a view: by function and by address.
 *
 *	profile --view_rules--> functions of the view, rules --calltree/view--> the CCT of the view, where each stack is
 *	code --the rules of the functions at its locations--> raw stacks of the view
 */
#ifndef CTX_REPORT_VIEWED_STACKS_H
#define CTX_REPORT_VIEWED_STACKS_H

#include "model/code.h"
#include "report/view_rules.h"

struct ctx_viewed {
	/* The given profile with the functions and call stacks of the view. Borrows all else; never release it by itself. */
	struct ctx_profile profile;
	struct ctx_view_rules rules;
	struct ctx_view_map stacks; /* by CCT node */
	/* Once ctx_viewed_code was called: the given code with the raw stacks and locations of the view. */
	struct ctx_code code;
	struct ctx_view_map raw_stacks; /* by raw stack */
	struct ctx_location *locations; /* owned */
	struct ctx_site *sites;		/* owned */
	uint32_t *raw_to_stack;		/* owned */
};

/*
 * Makes the view, which is not CTX_VIEW_DEFAULT, of a profile that outlives it. Call ctx_viewed_deinit in any
 * case. Where rules.changes is false nothing else is made. O(functions), and O(CCT nodes * depth) for a change.
 */
CTX_MUST_CHECK enum ctx_status ctx_viewed_make(struct ctx_viewed *viewed, const struct ctx_profile *profile,
					       enum ctx_view view, struct ctx_err *err);
void ctx_viewed_deinit(struct ctx_viewed *viewed);

/* Sets `code` and `raw_stacks`; once. `given` outlives it. O(raw stacks * depth + locations). */
CTX_MUST_CHECK enum ctx_status ctx_viewed_code(struct ctx_viewed *viewed, const struct ctx_code *given,
					       struct ctx_err *err);

#endif
