#include "runtime/rt_waits.h"

#include "base/clock.h"

#include <errno.h>

enum ctx_rt_sync ctx_rt_sync;

void ctx_rt_sync_settle(void)
{
	ctx_rt_sync = (ctx_rt_settings.what & CTX_RT_WHAT_SYNC) == 0 ? CTX_RT_SYNC_OFF
		      : ctx_rt_settings.sync_threshold_ns != 0	     ? CTX_RT_SYNC_LONG
								     : CTX_RT_SYNC_ALL;
}

static bool all_are_recorded(void)
{
	return ctx_rt_sync == CTX_RT_SYNC_ALL;
}

/* The calling thread, also one that begins with this. */
static struct ctx_rt_thread *thread_of_caller(void)
{
	struct ctx_rt_thread *thread = ctx_rt_thread_known();

	if (thread != NULL || (*ctx_rt_generation != 0 && ctx_rt_own.generation == *ctx_rt_generation))
		return thread; /* NULL: it found no place */
	if (ctx_rt_thread_acquire(CTX_RT_WHAT_SYNC) == NULL)
		return NULL;
	ctx_rt_thread_release();
	return ctx_rt_thread_known();
}

static void record(enum ctx_rt_kind kind, const uint64_t words[CTX_RT_ARGUMENTS_MAX],
		   const struct ctx_rt_registers *caller)
{
	struct ctx_rt_operation operation = {.kind = kind};
	struct ctx_rt_thread *thread;

	if (ctx_rt_is_paused())
		return;
	thread = ctx_rt_thread_acquire(CTX_RT_WHAT_SYNC);
	if (thread == NULL)
		return;
	for (unsigned i = 0; i < ctx_rt_words(kind); i++)
		operation.words[i] = words[i];
	ctx_rt_record(thread, &operation, caller);
	ctx_rt_thread_release();
}

/* The order of locks */

static bool is_lock(uint32_t operation)
{
	return operation == CTX_SYNC_MUTEX || operation == CTX_SYNC_READ_LOCK ||
	       operation == CTX_SYNC_WRITE_LOCK || operation == CTX_SYNC_SPIN;
}

static void note_pair(struct ctx_rt_locks *locks, const struct ctx_rt_held *held,
		      const struct ctx_rt_held *taken, const struct ctx_rt_registers *caller)
{
	uint64_t modes = (held->operation == CTX_SYNC_READ_LOCK ? CTX_SYNC_ORDER_HELD_READ : 0) |
			 (taken->operation == CTX_SYNC_READ_LOCK ? CTX_SYNC_ORDER_TAKEN_READ : 0);
	uint64_t hash, *place = ctx_rt_locks_pair(locks, held->object, taken->object ^ modes << 62, &hash);

	if (held->object == taken->object || *place != 0 || locks->n_pairs == CTX_RT_PAIRS_MAX ||
	    ctx_rt_is_paused())
		return; /* that of a pause is recorded the next time */
	*place = hash;
	locks->n_pairs++;
	record(CTX_RT_ORDER,
	       (const uint64_t[CTX_RT_ARGUMENTS_MAX]){ctx_clock_ns(CLOCK_MONOTONIC), held->object,
						      taken->object, modes},
	       caller);
}

static void note_order(struct ctx_rt_locks *locks, uint64_t taken, uint32_t operation,
		       const struct ctx_rt_registers *caller)
{
	const struct ctx_rt_held held = {.object = taken, .operation = operation};

	for (uint32_t i = 0; i < locks->n; i++)
		note_pair(locks, &locks->held[i], &held, caller);
}

/* Waits */

/* Where another thread took the lock. It goes on meanwhile: what is read is only looked up. */
static uint64_t holder_pc(int32_t tid, uint64_t object)
{
	const struct ctx_rt_thread *thread = ctx_rt_thread_of(tid);

	for (uint32_t i = 0; thread != NULL && i < CTX_RT_HELD_MAX; i++) {
		const volatile struct ctx_rt_held *held = &thread->locks.held[i];

		if (held->object == object)
			return held->pc;
	}
	return 0;
}

struct ctx_rt_waiting ctx_rt_wait_begin(struct ctx_rt_wait what, uint64_t object,
					const struct ctx_rt_registers *caller)
{
	struct ctx_rt_waiting waiting = {.object = object, .what = what};
	struct ctx_rt_thread *thread = thread_of_caller();

	if (thread == NULL)
		return waiting;
	ctx_rt_locks_drop_released(&thread->locks);
	if (is_lock(what.operation) && thread->locks.n != 0)
		note_order(&thread->locks, object, what.operation, caller);
	if (what.holder != 0)
		waiting.holder_pc = holder_pc(what.holder, waiting.object);
	waiting.since_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	return waiting;
}

uint64_t ctx_rt_wait_end(const struct ctx_rt_waiting *waiting, bool failed,
			 const struct ctx_rt_registers *caller)
{
	struct ctx_rt_wait what = waiting->what;
	uint64_t now_ns;
	int error = errno;

	if (waiting->since_ns == 0)
		return 0;
	now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	if (now_ns - waiting->since_ns < ctx_rt_settings.sync_threshold_ns)
		return 0;
	what.failed = failed;
	record(CTX_RT_WAIT,
	       (const uint64_t[CTX_RT_ARGUMENTS_MAX]){now_ns, now_ns - waiting->since_ns, waiting->object,
						      ctx_rt_pack_wait(what), waiting->holder_pc},
	       caller);
	errno = error;
	return now_ns;
}

/* Locks */

void ctx_rt_lock_note(const struct ctx_rt_held *held, bool is_tried, const struct ctx_rt_registers *caller)
{
	struct ctx_rt_thread *thread = thread_of_caller();
	struct ctx_rt_held noted = *held;

	if (thread == NULL)
		return;
	ctx_rt_locks_drop_released(&thread->locks);
	if (!is_tried && thread->locks.n != 0)
		note_order(&thread->locks, held->object, held->operation, caller);
	/* A lock that it holds already is held since then. */
	if (thread->locks.n != 0 && ctx_rt_locks_find(&thread->locks, held->object) != CTX_RT_HELD_MAX)
		noted.since_ns = 0;
	else if (noted.since_ns == 0 && all_are_recorded())
		noted.since_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	ctx_rt_locks_push(&thread->locks, &noted);
}

struct ctx_rt_releasing ctx_rt_lock_find(const volatile void *object)
{
	const struct ctx_rt_thread *thread = ctx_rt_thread_known();
	struct ctx_rt_releasing releasing = {.object = (uintptr_t)object, .at = CTX_RT_HELD_MAX};

	if (thread != NULL)
		releasing.at = ctx_rt_locks_find(&thread->locks, (uintptr_t)object);
	if (releasing.at != CTX_RT_HELD_MAX)
		releasing.since_ns = thread->locks.held[releasing.at].since_ns;
	if (releasing.since_ns != 0)
		releasing.to_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	return releasing;
}

/* A signal handler may have removed others before it meanwhile, and the lock itself. */
static struct ctx_rt_held *held_of(const struct ctx_rt_releasing *releasing)
{
	struct ctx_rt_locks *locks = &ctx_rt_own.thread->locks;
	uint32_t at = releasing->at;

	if (at != CTX_RT_HELD_MAX && (at >= locks->n || locks->held[at].object != releasing->object))
		at = ctx_rt_locks_find(locks, releasing->object);
	return at != CTX_RT_HELD_MAX ? &locks->held[at] : NULL;
}

void ctx_rt_lock_released_for(int32_t owner, const volatile void *object)
{
	struct ctx_rt_thread *thread = ctx_rt_thread_of(owner);

	if (thread != NULL && thread != ctx_rt_thread_known())
		ctx_rt_locks_note_released(&thread->locks, (uintptr_t)object);
}

void ctx_rt_lock_rest(const struct ctx_rt_releasing *releasing)
{
	struct ctx_rt_held *held = releasing->at != CTX_RT_HELD_MAX ? held_of(releasing) : NULL;

	if (held != NULL)
		held->since_ns = 0;
}

void ctx_rt_lock_stayed(const struct ctx_rt_releasing *releasing)
{
	struct ctx_rt_held *held = releasing->at != CTX_RT_HELD_MAX ? held_of(releasing) : NULL;

	if (held != NULL)
		held->since_ns = releasing->since_ns;
}

void ctx_rt_lock_gone(const struct ctx_rt_releasing *releasing, bool stays,
		      const struct ctx_rt_registers *caller)
{
	struct ctx_rt_held *place = releasing->at != CTX_RT_HELD_MAX ? held_of(releasing) : NULL, held;

	if (place == NULL)
		return;
	held = *place;
	if (!stays)
		ctx_rt_locks_remove(&ctx_rt_own.thread->locks,
				    (uint32_t)(place - ctx_rt_own.thread->locks.held));
	if (releasing->to_ns == 0)
		return;
	record(CTX_RT_HOLD,
	       (const uint64_t[CTX_RT_ARGUMENTS_MAX]){
		       releasing->to_ns, releasing->to_ns - releasing->since_ns, held.object,
		       ctx_rt_pack_wait((struct ctx_rt_wait){.operation = held.operation})},
	       caller);
}

void ctx_rt_lock_again(const void *object, const struct ctx_rt_registers *caller)
{
	struct ctx_rt_thread *thread = ctx_rt_thread_known();
	uint32_t at = thread != NULL ? ctx_rt_locks_find(&thread->locks, (uintptr_t)object) : CTX_RT_HELD_MAX;

	if (at == CTX_RT_HELD_MAX)
		return;
	if (thread->locks.n > 1)
		note_order(&thread->locks, (uintptr_t)object, CTX_SYNC_MUTEX, caller);
	if (all_are_recorded())
		thread->locks.held[at].since_ns = ctx_clock_ns(CLOCK_MONOTONIC);
}
