/*
 * Views: what becomes of the functions of a profile in --view user, expert and machine.
 *
 *	kind of code		user				expert		machine
 *	Java's methods		apart from what is native	by name		as compiled; Interpreter
 *	the Java VM		<JVM-System>			stays		stays
 *	functions of Python	apart from what is native	stay		hidden
 *	the interpreter		<Python-System>			stays		stays
 *	OpenMP's runtime	<OMP-overhead>, ...		stays		stays
 *	outlined regions	by readable names		the same	by symbols
 *	pseudo frames		as leaves			hidden		hidden
 *
 * Stored stacks have all frames; a view leaves out and renames (calltree/view.h). A language's own code has
 * labels only if the profile has functions of that language: without, nothing would be left.
 *
 * Source: requirements E12, E13.
 */
#ifndef CTX_REPORT_VIEW_RULES_H
#define CTX_REPORT_VIEW_RULES_H

#include "base/arena.h"
#include "calltree/view.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stdint.h>

enum ctx_view {
	CTX_VIEW_DEFAULT = 0, /* as ctx_view_of says */
	CTX_VIEW_USER,
	CTX_VIEW_EXPERT,
	CTX_VIEW_MACHINE,
};

/*
 * The view that is shown if none is asked for: of recordings in which a recorder put methods of a virtual machine
 * between native frames, that of users, else that of experts. O(functions).
 */
enum ctx_view ctx_view_of(const struct ctx_profile *profile, enum ctx_view asked);

struct ctx_view_rules {
	struct ctx_view_rule *of_function;   /* owned; by function of the profile */
	uint32_t n_given;		     /* functions of the profile */
	struct ctx_function_info *functions; /* owned: the profile's, then those that the view has besides */
	uint32_t n_functions;
	bool changes; /* whether any stack can be another one in the view */
	struct ctx_arena arena;
};

/* `view` is not CTX_VIEW_DEFAULT. Call ctx_view_rules_deinit in any case. CTX_E_NOMEM. O(functions). */
CTX_MUST_CHECK enum ctx_status ctx_view_rules_make(struct ctx_view_rules *rules,
						   const struct ctx_profile *profile, enum ctx_view view,
						   struct ctx_err *err);
void ctx_view_rules_deinit(struct ctx_view_rules *rules);

#endif
