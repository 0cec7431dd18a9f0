/*
 * Where the stack of a thread is: of any other one no more than a page is read.
 */
#ifndef CTX_RUNTIME_RT_STACK_H
#define CTX_RUNTIME_RT_STACK_H

#include "runtime/rt_walk.h"

#include <stdbool.h>
#include <stddef.h>

#define CTX_RT_TLS __attribute__((tls_model("initial-exec")))

/*
 * Room for some small blocks, aligned to 16: while the calling thread has it, malloc, calloc and realloc take from it, and
 * free does nothing. For a function of the C library that allocates, where the allocator may not be used.
 */
struct ctx_rt_scratch {
	char *at; /* of what is left; NULL: none */
	size_t size;
};
extern __thread struct ctx_rt_scratch ctx_rt_scratch CTX_RT_TLS;

/* What is known of the main thread's. `at_start`: the calling thread is taken for it, and its limit is that of the program's begin. */
void ctx_rt_stack_begin(bool at_start);

/*
 * Sets the bounds of the calling thread's. Calls functions that allocate, from `room`; all signals are blocked and the thread is muted.
 * False: they cannot be known now, since the thread is in a function of the C library that holds its lock.
 */
bool ctx_rt_stack_find(struct ctx_rt_walker *walker, void *room, size_t n);

#endif
