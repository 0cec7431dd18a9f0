/*
 * The deepest common ancestor of two call stacks, needed for every sample. Walking up from both
 * costs a dependent memory access for each frame.
 *
 * So the paths from the root to earlier stacks are kept, concatenated, and two are compared from
 * their beginnings. Stacks beyond a fixed amount of memory are walked.
 */
#ifndef CTX_INGEST_STACK_PATHS_H
#define CTX_INGEST_STACK_PATHS_H

#include "model/trie.h"

#include <stddef.h>

struct ctx_stack_paths {  /* all zero is empty */
	uint32_t *begins; /* owned; by stack: begin of its path in `nodes`, plus one; 0: not kept */
	size_t n_begins, begins_cap;
	uint32_t *nodes; /* owned; paths from the root, which is left out, to the stack itself */
	size_t n_nodes, nodes_cap;
};

void ctx_stack_paths_deinit(struct ctx_stack_paths *paths);

/* As ctx_trie_common_ancestor. Without memory it is only slower. */
uint32_t ctx_stack_paths_common(struct ctx_stack_paths *paths, const struct ctx_trie *cct, uint32_t a,
				uint32_t b);

#endif
