/*
 * Hooks in libraries that a program opens (rt_calls_patch.c).
 */
#ifndef CTX_RUNTIME_RT_CALLS_PATCH_H
#define CTX_RUNTIME_RT_CALLS_PATCH_H

#include "runtime/rt_loaded.h"

/* `caller`: an address in the code that opens the library. */
void ctx_rt_calls_see_loaded(struct ctx_rt_loaded *ret, const void *caller);

/*
 * Patches what was not loaded before a library was opened, whose handle it is. Nothing where there was one thread before and there are more
 * now: the library's constructors have started them, and they may be executing it. errno is kept.
 */
void ctx_rt_calls_patch_opened(const struct ctx_rt_loaded *before, const void *handle);

#endif
