/*
 * Memory that runs out: fail_after = n makes the n-th allocation from now on fail (0: the next
 * one), and only that; -1: none. For one test program each; it is linked with
 * -Wl,--wrap=malloc,--wrap=realloc,--wrap=calloc, so that allocations of our own code pass here,
 * and those of shared libraries do not.
 */
#ifndef CTX_TESTS_UNIT_FAILING_MALLOC_H
#define CTX_TESTS_UNIT_FAILING_MALLOC_H

#include <stdbool.h>
#include <stddef.h>

static _Atomic long fail_after = -1; /* threads allocate too */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);

static bool fails_now(void)
{
	return fail_after >= 0 && fail_after-- == 0;
}

void *__wrap_malloc(size_t size)
{
	return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t n, size_t size)
{
	return fails_now() ? NULL : __real_calloc(n, size);
}

void *__wrap_realloc(void *old, size_t size)
{
	return fails_now() ? NULL : __real_realloc(old, size);
}

#endif
