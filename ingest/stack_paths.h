/*
 * The deepest call stack that two have in common, asked for with every sample.
 *
 * Walking up from both costs a step for each frame, each waiting for the one before. So the paths from the root to the stacks that
 * were asked for are kept, one behind the other, and two are compared from their beginnings. What exceeds a fixed amount of
 * memory is walked.
 */
#ifndef CTX_INGEST_STACK_PATHS_H
#define CTX_INGEST_STACK_PATHS_H

#include "model/trie.h"

#include <stddef.h>

struct ctx_stack_paths { /* all zero is empty */
	uint32_t
		*begins; /* owned; by stack: where its path begins in `nodes`, plus one; 0: it is not there */
	size_t n_begins, begins_cap;
	uint32_t *nodes; /* owned; paths from the root, which is left out, to the stack itself */
	size_t n_nodes, nodes_cap;
};

void ctx_stack_paths_deinit(struct ctx_stack_paths *paths);

/* As ctx_trie_common_ancestor. Memory that is short only makes it slower. */
uint32_t ctx_stack_paths_common(struct ctx_stack_paths *paths, const struct ctx_trie *cct, uint32_t a,
				uint32_t b);

#endif
