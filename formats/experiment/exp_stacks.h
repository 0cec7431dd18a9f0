/*
 * Dictionary of one process's call stacks during recording: a prefix tree of addresses, with ids in
 * order of first appearance.
 *
 * Node 0 is the empty stack. A node costs 16 bytes, plus 6 to 13 for hash slots. All zero is a
 * valid dictionary with node 0 only.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_STACKS_H
#define CTX_FORMATS_EXPERIMENT_EXP_STACKS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct ctx_exp_stack_node {
	uint64_t address;
	uint32_t parent;
	uint32_t depth;
};

struct ctx_exp_stacks {
	struct ctx_exp_stack_node *nodes; /* of nodes[0] only the depth is used */
	uint32_t *slots;		  /* open addressing, 0 is free */
	size_t n, cap;			  /* nodes, node 0 included */
	size_t slots_cap;		  /* 0 or a power of two */
};

void ctx_exp_stacks_deinit(struct ctx_exp_stacks *stacks);

/* Memory in use, in bytes. */
size_t ctx_exp_stacks_bytes(const struct ctx_exp_stacks *stacks);

/*
 * Bytes that ctx_exp_stacks_reserve(stacks, extra) would allocate (before it frees the old ones).
 */
size_t ctx_exp_stacks_growth(const struct ctx_exp_stacks *stacks, size_t extra);

/* Makes room for `extra` nodes. CTX_E_NOMEM, CTX_E_LIMIT (ids used up). */
CTX_MUST_CHECK enum ctx_status ctx_exp_stacks_reserve(struct ctx_exp_stacks *stacks, size_t extra,
						      struct ctx_err *err);

/*
 * The node of a stack given leaf first. `like` is any node of this dictionary (the thread's last
 * stack; 0: none): the common prefix with it is found without hashing. Room for n nodes must have
 * been reserved. New nodes begin at the old stacks->n; *ret_prefix is the parent of the first.
 */
uint32_t ctx_exp_stacks_intern(struct ctx_exp_stacks *stacks, const uint64_t *frames, size_t n, uint32_t like,
			       uint32_t *ret_prefix);

#endif
