/*
 * Numbers for the stacks that events name by 64-bit uids: dense for each experiment, in the order
 * of their first events.
 *
 *	uid of an event --> number, whether it is whole
 *	number --when the ingest asks--> frames, markers translated to ours
 */
#ifndef CTX_FORMATS_GPROFNG_GP_STACKS_H
#define CTX_FORMATS_GPROFNG_GP_STACKS_H

#include "formats/gprofng/gp_experiment.h"

#define CTX_GP_STACK_MAX 8192u

struct ctx_gp_numbered {
	uint64_t uid;
	enum ctx_gp_stack_state state;
	bool is_java;	 /* its frames are Java methods, resolved as of time_ns */
	int64_t time_ns; /* absolute; of its first event; set by the caller */
};

struct ctx_gp_stacks { /* of one experiment; all zero is a valid empty one */
	struct ctx_map64 number_of_uid;
	struct ctx_gp_numbered *items; /* owned; items[0] is number 1 */
	size_t n, cap;
	const struct ctx_gp_frames *frames; /* of the experiment; borrowed, set by the caller */
	uint64_t truncations;		    /* as in the experiment's map; set by the caller */
	size_t n_broken;		    /* incomplete ones */
};

/* The frames looked up last. All zero is none. */
struct ctx_gp_stack_frames {
	const struct ctx_gp_stacks *of; /* NULL none */
	uint32_t number;
	uint32_t n;
	uint64_t frames[CTX_GP_STACK_MAX]; /* leaf first, as an event source returns them */
};

void ctx_gp_stacks_deinit(struct ctx_gp_stacks *stacks);

/*
 * Returns the number of a stack. The frames of a new one stay in `last`. CTX_E_NOMEM, CTX_E_LIMIT.
 */
CTX_MUST_CHECK enum ctx_status ctx_gp_stacks_number(struct ctx_gp_stacks *stacks, uint64_t uid,
						    struct ctx_gp_stack_frames *last, uint32_t *ret_number,
						    struct ctx_err *err);

/* Prefetch: the number of this uid will be looked up soon. */
static inline void ctx_gp_stacks_prefetch(const struct ctx_gp_stacks *stacks, uint64_t uid)
{
	ctx_map64_prefetch(&stacks->number_of_uid, uid);
}

/* Puts the frames of a number into `last`. False: unknown number. */
bool ctx_gp_stacks_frames(const struct ctx_gp_stacks *stacks, uint32_t number,
			  struct ctx_gp_stack_frames *last);

#endif
