/*
 * The open calls of a thread, and what its ring is told of them.
 *
 *	a call begins, ends --> open calls --> words; where there is no room, they are counted, and what is open then is told later
 *
 * `told` of the open calls are in the ring. All of it runs with integer registers alone, and keeps them all (CTX_RT_KEEPS).
 */
#ifndef CTX_RUNTIME_RT_CALLS_OPEN_H
#define CTX_RUNTIME_RT_CALLS_OPEN_H

#include "runtime/rt_calls_work.h"

#ifdef __x86_64__
#define CTX_RT_KEEPS __attribute__((no_caller_saved_registers))
#else
#define CTX_RT_KEEPS /* hooks are ordinary calls */
#endif

/* ctx_rt_calls_work, with all registers saved. */
CTX_RT_KEEPS void ctx_rt_calls_heavy(struct ctx_rt_calls_request *request)
	__attribute__((visibility("hidden")));

static inline uint64_t ctx_rt_calls_tsc(void)
{
	return __builtin_ia32_rdtsc();
}

/* Ticks, by whatever clock. */
CTX_RT_KEEPS uint64_t ctx_rt_calls_ticks(void);

static inline bool ctx_rt_calls_tells_all(void)
{
	return ctx_rt_calls_settings.min_ticks == 0;
}

/* A handler has interrupted what was done to the tree, and does not return to it. If that is not whole, it begins anew. */
CTX_RT_KEEPS void ctx_rt_open_abandon_sums(struct ctx_rt_calls *calls);

/* Whether an open call is over when something is at a place, `sp`, on what may be another stack. */
CTX_RT_KEEPS bool ctx_rt_open_is_over(const struct ctx_rt_calls *calls, uint64_t place, uint64_t sp);

/* Ends what is not on the stack any more: frames below `sp` are not. What goes on is told. */
CTX_RT_KEEPS void ctx_rt_open_settle(struct ctx_rt_calls *calls, uint64_t sp, uint64_t ticks);

/* A call begins; false: it is too deep. */
CTX_RT_KEEPS bool ctx_rt_open_enter(struct ctx_rt_calls *calls, const struct ctx_rt_deferred *what);

/* A call ends, and with it those in it. One that is not open is passed over. */
CTX_RT_KEEPS void ctx_rt_open_leave(struct ctx_rt_calls *calls, const struct ctx_rt_deferred *what);

/* Reads the counters, and writes what they have counted. */
CTX_RT_KEEPS void ctx_rt_open_count(struct ctx_rt_calls *calls, uint64_t ticks);

#endif
