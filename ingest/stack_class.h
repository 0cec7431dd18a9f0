/*
 * Classifies a stack by the names of its functions: whether its thread is in the kernel, and why.
 *
 * Names are those of Linux on x86-64 (also before 5.8) and aarch64. Each function and each stack is
 * classified once. Source: requirement E8.
 */
#ifndef CTX_INGEST_STACK_CLASS_H
#define CTX_INGEST_STACK_CLASS_H

#include "ingest/resolver.h"
#include "ingest/states.h"
#include "model/trie.h"

/* All zero but for the first two fields is empty. */
struct ctx_stack_classes {
	const struct ctx_trie *raw;	     /* the stacks; key = location of the resolver; borrowed */
	const struct ctx_resolver *resolver; /* borrowed */
	uint16_t *of_raw;		     /* by raw stack, owned */
	size_t n_raw, raw_cap;
	uint16_t *of_function; /* by function, owned */
	size_t n_functions, functions_cap;
};

void ctx_stack_classes_deinit(struct ctx_stack_classes *classes);

/* Bits of enum ctx_stack_class. O(frames of the kernel) for a new stack. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_stack_class_of(struct ctx_stack_classes *classes, uint32_t stack,
						  unsigned *ret, struct ctx_err *err);

/*
 * The part of a stack that is in user mode; CTX_TRIE_ROOT: none, or unknown. O(frames of
 * the kernel).
 */
uint32_t ctx_stack_user_part(const struct ctx_stack_classes *classes, uint32_t stack);

/*
 * The stack without the scheduler's own functions at its leaf: they are the same for all waits, and
 * say nothing. At least one frame of a stack stays.
 */
CTX_MUST_CHECK enum ctx_status ctx_stack_without_scheduler(struct ctx_stack_classes *classes, uint32_t stack,
							   uint32_t *ret, struct ctx_err *err);

/*
 * The node nearest to the root, of the kernel's part of a stack, where an interrupt came in;
 * CTX_TRIE_ROOT: none, or only one that is over, and what is left is the thread's own work before
 * it goes back to its program. O(depth).
 */
CTX_MUST_CHECK enum ctx_status ctx_stack_interrupt_entry(struct ctx_stack_classes *classes, uint32_t stack,
							 uint32_t *ret, struct ctx_err *err);

#endif
