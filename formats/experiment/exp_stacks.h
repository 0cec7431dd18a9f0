/*
 * The dictionary of one process's call stacks while it is recorded: a prefix tree of addresses with ids in order of first appearance.
 *
 * Node 0 is the empty stack. A node costs 16 bytes and 6 to 13 of hash slots. All zero is a valid dictionary of node 0 alone.
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
	struct ctx_exp_stack_node *nodes; /* nodes[0] is not used but for its depth */
	uint32_t *slots;		  /* open addressing, 0 is free */
	size_t n, cap;			  /* nodes, node 0 included */
	size_t slots_cap;		  /* 0 or a power of two */
};

void ctx_exp_stacks_deinit(struct ctx_exp_stacks *stacks);

/* Memory held now, bytes. */
size_t ctx_exp_stacks_bytes(const struct ctx_exp_stacks *stacks);

/* Bytes that ctx_exp_stacks_reserve(stacks, extra) would ask for (while the old ones are still held). */
size_t ctx_exp_stacks_growth(const struct ctx_exp_stacks *stacks, size_t extra);

/* Makes room for `extra` nodes. CTX_E_NOMEM, CTX_E_LIMIT (ids used up). */
CTX_MUST_CHECK enum ctx_status ctx_exp_stacks_reserve(struct ctx_exp_stacks *stacks, size_t extra,
						      struct ctx_err *err);

/*
 * The node of a stack given leaf first. `like` is any node of this dictionary (the thread's last stack; 0: none): what the stack shares with it from the root is found without hashing.
 * Room for n nodes must have been reserved. New nodes are those from the old stacks->n on; *ret_prefix is the parent of the first of them.
 */
uint32_t ctx_exp_stacks_intern(struct ctx_exp_stacks *stacks, const uint64_t *frames, size_t n, uint32_t like,
			       uint32_t *ret_prefix);

#endif
