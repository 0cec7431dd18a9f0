/*
 * Stack bottoms: the start code that the stacks of a process end in, for stacks that come along frame pointers.
 *
 *	_start < __libc_start_main < __libc_start_call_main | < main < ...
 *	             clone3 < start_thread                  | < function of the thread < ...
 *
 * A chain of frame pointers ends at the code that has none, which is that of the C library as a rule, a frame or two before the
 * root. What calls this frame is learned from stacks that were copied as a whole: the frames without frame pointers at
 * the end of a stack, at most CTX_STACK_BOTTOM_FRAMES, and only while the innermost one is seen nowhere else and with no
 * other callers. Bounded: beyond CTX_STACK_BOTTOMS, places displace each other.
 */
#ifndef CTX_COLLECT_STACK_BOTTOMS_H
#define CTX_COLLECT_STACK_BOTTOMS_H

#include "collect/stack_memory.h"

#define CTX_STACK_BOTTOMS 512u
#define CTX_STACK_BOTTOM_FRAMES 3u
#define CTX_STACK_BOTTOM_WITNESSES 8u

struct ctx_stack_bottom {
	struct ctx_unwind_frame frames[CTX_STACK_BOTTOM_FRAMES]; /* innermost first */
	uint32_t process;
	uint32_t n; /* frames; 0: none yet */
	uint32_t witnesses;
	bool differs; /* for ever: the innermost one is elsewhere, too */
};

struct ctx_stack_bottoms {		/* all zero, then init */
	struct ctx_stack_bottom *items; /* by process and innermost address; owned */
	uint64_t n_offered;
};

CTX_MUST_CHECK enum ctx_status ctx_stack_bottoms_init(struct ctx_stack_bottoms *bottoms, struct ctx_err *err);
void ctx_stack_bottoms_deinit(struct ctx_stack_bottoms *bottoms);

/*
 * Offers a stack of the view's process that reaches its root by call frame information and the copy alone. Of many, one
 * in 16 is looked at: O(frames).
 */
void ctx_stack_bottoms_offer(struct ctx_stack_bottoms *bottoms, struct ctx_code_view *view,
			     struct ctx_stack_part stack);

/* The callers of the innermost frame of a bottom; `frames` NULL: it is none, or too few stacks had it. Borrowed. O(1). */
struct ctx_stack_part ctx_stack_bottoms_callers(const struct ctx_stack_bottoms *bottoms, uint32_t process,
						uint64_t address);

#endif
