/*
 * Hooks in libraries that a program opens (rt_calls_patch.c).
 */
#ifndef CTX_RUNTIME_RT_CALLS_PATCH_H
#define CTX_RUNTIME_RT_CALLS_PATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_RT_LOADED_MAX 1024u /* with more objects none is patched */

/* What is loaded. */
struct ctx_rt_loaded {
	bool is_wanted; /* calls are recorded, so that what comes is patched; else the rest means nothing */
	bool is_alone;	/* there is one thread */
	size_t n;
	uint64_t objects[CTX_RT_LOADED_MAX]; /* where each is, as the loader says */
};

void ctx_rt_calls_see_loaded(struct ctx_rt_loaded *ret);

/*
 * Patches what was not loaded before a library was opened, whose handle it is. Nothing where there was one thread before and there are more
 * now: the library's constructors have started them, and they may be executing it. errno is kept.
 */
void ctx_rt_calls_patch_opened(const struct ctx_rt_loaded *before, const void *handle);

#endif
