/*
 * Whether call stacks begin where a thread begins. Frame pointers that some code does not keep end a
 * stack early, without a mark: its outermost frame is any function.
 */
#ifndef CTX_INGEST_STACK_ROOTS_H
#define CTX_INGEST_STACK_ROOTS_H

#include "ingest/resolver.h"
#include "model/trie.h"

struct ctx_stack_roots {  /* samples by their outermost frame in user mode */
	uint64_t reached; /* the program's entry or the begin of a thread */
	uint64_t missing; /* another function */
};

/*
 * `leaf_samples` counts samples by raw stack. Neither are stacks of the kernel alone, those that end
 * with a mark, and those whose outermost function has no name. O(stacks). CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_stack_roots_count(const struct ctx_resolver *resolver,
						     const struct ctx_trie *raw, const uint32_t *leaf_samples,
						     struct ctx_stack_roots *ret, struct ctx_err *err);

#endif
