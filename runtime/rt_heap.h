/*
 * What the functions of the heap (rt_heap.c) and those that map memory (rt_map.c) share.
 */
#ifndef CTX_RUNTIME_RT_HEAP_H
#define CTX_RUNTIME_RT_HEAP_H

#include <stdbool.h>
#include <stdint.h>

/*
 * The thread is in an allocator that is not the C library's: what this calls by the names that the runtime
 * stands in for is a part of an operation that is recorded already. (The C library's calls none of them.)
 */
extern __thread bool ctx_rt_in_allocator __attribute__((tls_model("initial-exec")));

/* Bytes that the thread has asked for; blocks that are made larger or smaller count as new. */
extern __thread uint64_t ctx_rt_allocated __attribute__((tls_model("initial-exec")));

#endif
