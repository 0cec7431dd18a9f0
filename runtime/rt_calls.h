/*
 * Calls of functions, as the hooks of instrumented programs see them begin and end.
 *
 *	__cyg_profile_func_enter, _exit		-finstrument-functions
 *	mcount, __fentry__			-pg, -pg -mfentry, and what rt_calls_patch.c has made calls
 *	sleds					-fxray-instrument, made calls and jumps
 *
 * Each hook looks at the clock and writes a word into a ring that the thread has for its calls alone
 * (shared_layout.h). Where a function has no hook at its end, it returns to ctx_rt_calls_return, which goes on
 * where the function would have returned to: that address is kept apart (rt_returns.h).
 *
 * The open calls of a thread are a stack, each with the place of its frame. What is not on the machine's stack any
 * more (longjmp, exceptions, coroutines that are switched) is found by that place, and ends with the next call that
 * begins or ends; at longjmp and where an exception is caught at once. What happens in a signal handler that has
 * interrupted a hook is kept until that hook is done.
 *
 * Hooks change no register but those that a call may change, and nothing of vectors: rt_calls.c is compiled without
 * them, and what needs the C library is done by ctx_rt_calls_work behind ctx_rt_calls_heavy, which saves them. errno
 * is kept. On i386 only the first kind is recorded.
 */
#ifndef CTX_RUNTIME_RT_CALLS_H
#define CTX_RUNTIME_RT_CALLS_H

#include <stdint.h>

/* The thread goes on with this stack pointer: calls that are below it on its stack have ended. By longjmp, and where an exception is caught. */
void ctx_rt_calls_jump(uint64_t sp);

#ifdef __x86_64__
/* Where functions without a hook at their end return to. */
extern const char ctx_rt_calls_return[] __attribute__((visibility("hidden")));

/* Hooks for places that are patched: the first is called at a function's begin, sleds call the others, and jump to the last. */
extern const char ctx_rt_calls_patched_entry[] __attribute__((visibility("hidden")));
extern const char ctx_rt_calls_sled_enter[] __attribute__((visibility("hidden")));
extern const char ctx_rt_calls_sled_tail[] __attribute__((visibility("hidden")));
extern const char ctx_rt_calls_sled_leave[] __attribute__((visibility("hidden")));
#endif

#endif
