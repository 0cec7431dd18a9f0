#include "runtime/rt_thread.h"

#include "runtime/rt_filter.h"
#include "runtime/rt_syscall.h"

#include <errno.h>
#include <signal.h>
#include <time.h>

#define WAIT_NS 200000	  /* between two looks at a full ring */
#define WAIT_ROUNDS 5000u /* without a beat of the recorder: a second */

__thread struct ctx_rt_own ctx_rt_own CTX_RT_TLS;

static const uint32_t no_generation = UINT32_MAX;
const uint32_t *ctx_rt_generation = &no_generation;

uint64_t ctx_rt_signals_block(void)
{
	const uint64_t all = UINT64_MAX;
	uint64_t before = CTX_RT_NO_SIGNALS;

	if (!ctx_rt_is_restricted())
		(void)ctx_rt_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof(all));
	return before;
}

void ctx_rt_signals_restore(uint64_t before)
{
	if (!ctx_rt_is_restricted() && before != CTX_RT_NO_SIGNALS)
		(void)ctx_rt_syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof(before));
}

/* False: the recorder does not read any more; nobody waits for it again. */
static bool wait_for_room(struct ctx_rt_thread *thread)
{
	const struct timespec pause = {.tv_nsec = WAIT_NS};
	uint32_t beat = atomic_load(thread->beat), rounds = 0;
	int error = errno;

	while (!ctx_rt_ring_has_room(&thread->ring) && rounds < WAIT_ROUNDS &&
	       atomic_load_explicit(thread->closed, memory_order_relaxed) == 0) {
		(void)ctx_rt_syscall(SYS_clock_nanosleep, CLOCK_MONOTONIC, 0, &pause, NULL);
		rounds++;
		if (atomic_load(thread->beat) != beat) {
			beat = atomic_load(thread->beat);
			rounds = 0;
		}
	}
	errno = error;
	if (ctx_rt_ring_has_room(&thread->ring))
		return true;
	thread->waits = false;
	return false;
}

__attribute__((noinline)) static void learn_stack(struct ctx_rt_thread *thread)
{
	uint64_t signals;
	int error = errno;

	signals = ctx_rt_signals_block();
	ctx_rt_mute();
	thread->knows_stack = ctx_rt_stack_find(&thread->walker, thread->frames, sizeof(thread->frames));
	ctx_rt_unmute();
	ctx_rt_signals_restore(signals);
	errno = error;
}

__attribute__((hot)) void ctx_rt_record(struct ctx_rt_thread *thread, struct ctx_rt_operation *operation,
					const struct ctx_rt_registers *caller)
{
	if (!ctx_rt_ring_has_room(&thread->ring) &&
	    !(thread->waits && !ctx_rt_is_restricted() && wait_for_room(thread))) {
		atomic_fetch_add_explicit(&thread->ring.slot->dropped, 1, memory_order_relaxed);
		return;
	}
	if (caller != NULL) {
		struct ctx_rt_stack stack = ctx_rt_walk(&thread->walker, caller, thread->frames);

		operation->frames = stack.frames;
		operation->n_new = stack.n;
		operation->kept = stack.kept;
		operation->end = stack.end;
	}
	ctx_rt_ring_put(&thread->ring, operation);
	if (__builtin_expect(caller != NULL && !thread->knows_stack, 0))
		learn_stack(thread);
}
