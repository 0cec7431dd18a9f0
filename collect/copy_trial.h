/*
 * Copy trial: would smaller copies of the stack do? Samples are unwound a second time, with less of their copy and the
 * kernel's chain of frame pointers, and the two stacks are compared.
 */
#ifndef CTX_COLLECT_COPY_TRIAL_H
#define CTX_COLLECT_COPY_TRIAL_H

#include "collect/stack_bottoms.h"
#include "collect/unwind_pool.h"

struct ctx_copy_trial {
	size_t bytes; /* of the small copy; 0: there is none */
	bool is_on;
	struct ctx_unwind_frame *frames; /* room for a stack of `max`; borrowed */
	size_t max;
	const struct ctx_stack_bottoms *bottoms; /* borrowed */
	/* So far, while it is on. */
	uint64_t stacks;
	uint64_t deep;	 /* of them, whose frames were outside of the small copy */
	uint64_t failed; /* of these, that would have been another stack */
};

/* A stack whose job is done. As long as it is on, and only for a deep stack, as much again as unwinding it. */
void ctx_copy_trial_take(struct ctx_copy_trial *trial, const struct ctx_unwind_job *job);

#endif
