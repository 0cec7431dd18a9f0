/*
 * The functions of locks, condition variables, semaphores, barriers and joins: each calls the real one, and
 * records what it waited for.
 *
 * A lock is tried first: one that is free costs no clock. Only if it is not, the real function is called. Trying
 * says the same as locking, except where the lock is not free. sem_wait is a cancellation point also if it does
 * not wait. While the program waits, the runtime holds nothing: a thread may be cancelled there.
 *
 * Locks that libc itself takes do not come here, nor do C11's functions by way of those of pthread: they are
 * here themselves.
 */
#include "runtime/rt_real.h"
#include "runtime/rt_waits.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <threads.h>
#include <unistd.h>

#define EXPORT __attribute__((visibility("default"), noinline))
#define LIKELY(condition) __builtin_expect(!!(condition), 1)

/* What programs of 32 bits call that are built for times of 64 (_TIME_BITS). */
#ifdef __LP64__
#define REAL_FUNCTIONS_WIDE(X)
#else
struct wide_time {
	int64_t tv_sec;
	int32_t tv_nsec, unused;
};
int __pthread_mutex_timedlock64(pthread_mutex_t *mutex, const struct wide_time *until);
int __pthread_mutex_clocklock64(pthread_mutex_t *mutex, clockid_t clock, const struct wide_time *until);
int __pthread_rwlock_timedrdlock64(pthread_rwlock_t *lock, const struct wide_time *until);
int __pthread_rwlock_clockrdlock64(pthread_rwlock_t *lock, clockid_t clock, const struct wide_time *until);
int __pthread_rwlock_timedwrlock64(pthread_rwlock_t *lock, const struct wide_time *until);
int __pthread_rwlock_clockwrlock64(pthread_rwlock_t *lock, clockid_t clock, const struct wide_time *until);
int __pthread_cond_timedwait64(pthread_cond_t *condition, pthread_mutex_t *mutex,
			       const struct wide_time *until);
int __pthread_cond_clockwait64(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,
			       const struct wide_time *until);
int __sem_timedwait64(sem_t *semaphore, const struct wide_time *until);
int __sem_clockwait64(sem_t *semaphore, clockid_t clock, const struct wide_time *until);
int __pthread_timedjoin_np64(pthread_t thread, void **ret, const struct wide_time *until);
int __pthread_clockjoin_np64(pthread_t thread, void **ret, clockid_t clock, const struct wide_time *until);
int __mtx_timedlock64(mtx_t *restrict mutex, const struct wide_time *restrict until);
int __cnd_timedwait64(cnd_t *restrict condition, mtx_t *restrict mutex,
		      const struct wide_time *restrict until);
#define REAL_FUNCTIONS_WIDE(X)                                                                               \
	X(__pthread_mutex_timedlock64, NULL)                                                                 \
	X(__pthread_mutex_clocklock64, NULL)                                                                 \
	X(__pthread_rwlock_timedrdlock64, NULL)                                                              \
	X(__pthread_rwlock_clockrdlock64, NULL)                                                              \
	X(__pthread_rwlock_timedwrlock64, NULL)                                                              \
	X(__pthread_rwlock_clockwrlock64, NULL)                                                              \
	X(__pthread_cond_timedwait64, NULL)                                                                  \
	X(__pthread_cond_clockwait64, NULL)                                                                  \
	X(__sem_timedwait64, NULL)                                                                           \
	X(__sem_clockwait64, NULL)                                                                           \
	X(__pthread_timedjoin_np64, NULL)                                                                    \
	X(__pthread_clockjoin_np64, NULL)                                                                    \
	X(__mtx_timedlock64, NULL)                                                                           \
	X(__cnd_timedwait64, NULL)
#endif

/* Names, and versions where there are several; those without one are as dlsym finds them. */
#define REAL_FUNCTIONS(X)                                                                                    \
	X(pthread_mutex_trylock, NULL)                                                                       \
	X(pthread_mutex_lock, NULL)                                                                          \
	X(pthread_mutex_timedlock, NULL)                                                                     \
	X(pthread_mutex_clocklock, NULL)                                                                     \
	X(pthread_mutex_unlock, NULL)                                                                        \
	X(pthread_rwlock_tryrdlock, NULL)                                                                    \
	X(pthread_rwlock_rdlock, NULL)                                                                       \
	X(pthread_rwlock_timedrdlock, NULL)                                                                  \
	X(pthread_rwlock_clockrdlock, NULL)                                                                  \
	X(pthread_rwlock_trywrlock, NULL)                                                                    \
	X(pthread_rwlock_wrlock, NULL)                                                                       \
	X(pthread_rwlock_timedwrlock, NULL)                                                                  \
	X(pthread_rwlock_clockwrlock, NULL)                                                                  \
	X(pthread_rwlock_unlock, NULL)                                                                       \
	X(pthread_spin_trylock, NULL)                                                                        \
	X(pthread_spin_lock, NULL)                                                                           \
	X(pthread_spin_unlock, NULL)                                                                         \
	X(pthread_cond_wait, "GLIBC_2.3.2")                                                                  \
	X(pthread_cond_timedwait, "GLIBC_2.3.2")                                                             \
	X(pthread_cond_clockwait, NULL)                                                                      \
	X(sem_trywait, NULL)                                                                                 \
	X(sem_wait, NULL)                                                                                    \
	X(sem_timedwait, NULL)                                                                               \
	X(sem_clockwait, NULL)                                                                               \
	X(pthread_barrier_wait, NULL)                                                                        \
	X(pthread_join, NULL)                                                                                \
	X(pthread_timedjoin_np, NULL)                                                                        \
	X(pthread_clockjoin_np, NULL)                                                                        \
	X(mtx_trylock, NULL)                                                                                 \
	X(mtx_lock, NULL)                                                                                    \
	X(mtx_timedlock, NULL)                                                                               \
	X(mtx_unlock, NULL)                                                                                  \
	X(cnd_wait, NULL)                                                                                    \
	X(cnd_timedwait, NULL)                                                                               \
	X(thrd_join, NULL)

static struct {
#define FIELD(name, version) __typeof__(name) *name;
	REAL_FUNCTIONS_WIDE(FIELD)
	REAL_FUNCTIONS(FIELD)
#undef FIELD
} real;

/* Finds the real functions, and whether waits are recorded. */
__attribute__((noinline, constructor)) static void begin(void)
{
	static __thread bool is_resolving CTX_RT_TLS;
	int error = errno;

	if (is_resolving)
		return;
	is_resolving = true;
	if (real.thrd_join == NULL) {
#define FIND(name, version) *(void **)&real.name = ctx_rt_find(#name, version);
		REAL_FUNCTIONS_WIDE(FIND)
		REAL_FUNCTIONS(FIND)
#undef FIND
	}
	if (environ != NULL && !ctx_rt_is_late()) {
		(void)ctx_rt_begin();
		ctx_rt_sync_settle();
	}
	is_resolving = false;
	errno = error;
}

static inline bool is_recorded(void)
{
	if (LIKELY(ctx_rt_sync == CTX_RT_SYNC_LONG))
		return true;
	if (ctx_rt_sync == CTX_RT_SYNC_UNKNOWN)
		begin();
	return ctx_rt_sync >= CTX_RT_SYNC_LONG;
}

/* What a function is asked to do. */
struct request {
	uint64_t object;
	enum ctx_sync_operation operation;
	struct ctx_rt_registers caller;
};

#define REQUEST(what, of)                                                                                    \
	{                                                                                                    \
		.object = (uintptr_t)(of), .operation = (what), .caller = CTX_RT_CALLER()                    \
	}

/* The lock was got at once, and is the only one of its thread; false: nothing is done. */
static inline bool took_simply(const volatile void *object, enum ctx_sync_operation operation, const void *pc)
{
	struct ctx_rt_thread *thread = ctx_rt_thread_known();
	const struct ctx_rt_held held = {
		.object = (uintptr_t)object, .pc = (uintptr_t)pc, .operation = operation};

	if (!LIKELY(ctx_rt_sync == CTX_RT_SYNC_LONG && thread != NULL && thread->locks.n == 0))
		return false;
	ctx_rt_locks_push(&thread->locks, &held);
	return true;
}

/* The lock was got without a wait. */
static void took_at_once(const struct request *request, bool is_tried)
{
	const struct ctx_rt_held held = {
		.object = request->object, .pc = request->caller.pc, .operation = request->operation};

	ctx_rt_lock_note(&held, is_tried, &request->caller);
}

static struct ctx_rt_waiting wait_begin(const struct request *request, int32_t holder)
{
	return ctx_rt_wait_begin((struct ctx_rt_wait){.operation = request->operation, .holder = holder},
				 request->object, &request->caller);
}

enum outcome {
	GOT,
	TIMED_OUT, /* or interrupted */
	REFUSED,   /* did not wait */
};

static void lock_end(const struct request *request, const struct ctx_rt_waiting *waiting,
		     enum outcome outcome)
{
	struct ctx_rt_held held = {
		.object = request->object, .pc = request->caller.pc, .operation = request->operation};

	if (outcome != REFUSED)
		held.since_ns = ctx_rt_wait_end(waiting, outcome != GOT, &request->caller);
	if (outcome == GOT)
		ctx_rt_lock_note(&held, true, &request->caller);
}

static enum outcome outcome_of(int error)
{
	if (error == 0 || error == EOWNERDEAD)
		return GOT;
	return error == ETIMEDOUT ? TIMED_OUT : REFUSED;
}

static enum outcome outcome_of_c11(int result)
{
	if (result == thrd_success)
		return GOT;
	return result == thrd_timedout ? TIMED_OUT : REFUSED;
}

/*
 * A function that takes a lock: tries; `busy` says that it is not free. The value is what the function
 * returns.
 */
#define TAKE(what, of, holder, try, busy, call, outcome)                                                     \
	({                                                                                                   \
		int result_ = (try);                                                                         \
                                                                                                             \
		if (!LIKELY(result_ == 0 && took_simply(of, what, __builtin_return_address(0)))) {           \
			const struct request request_ = REQUEST(what, of);                                   \
                                                                                                             \
			if (result_ == (busy)) {                                                             \
				struct ctx_rt_waiting waiting_ = wait_begin(&request_, (holder));            \
                                                                                                             \
				result_ = (call);                                                            \
				lock_end(&request_, &waiting_, outcome(result_));                            \
			} else if (outcome(result_) == GOT) {                                                \
				took_at_once(&request_, false);                                              \
			}                                                                                    \
		}                                                                                            \
		result_;                                                                                     \
	})

#define TRY(what, of, try, outcome)                                                                          \
	({                                                                                                   \
		int result_ = (try);                                                                         \
                                                                                                             \
		if (outcome(result_) == GOT && !took_simply(of, what, __builtin_return_address(0))) {        \
			const struct request request_ = REQUEST(what, of);                                   \
                                                                                                             \
			took_at_once(&request_, true);                                                       \
		}                                                                                            \
		result_;                                                                                     \
	})

/* The only lock that its thread holds, of which no time is recorded: what most releases are of. */
static inline struct ctx_rt_locks *find_simple(const volatile void *object)
{
	struct ctx_rt_thread *thread = ctx_rt_thread_known();

	return LIKELY(thread != NULL && thread->locks.n == 1 &&
		      thread->locks.held[0].object == (uintptr_t)object &&
		      thread->locks.held[0].since_ns == 0)
		       ? &thread->locks
		       : NULL;
}

/* A function that releases a lock; `holder` has it, if another thread can (0: nobody is known). */
#define RELEASE(of, holder, call)                                                                            \
	({                                                                                                   \
		struct ctx_rt_locks *locks_ = find_simple(of);                                               \
		int result_;                                                                                 \
                                                                                                             \
		if (LIKELY(locks_ != NULL)) {                                                                \
			result_ = (call);                                                                    \
			if (result_ == 0)                                                                    \
				ctx_rt_locks_remove(locks_, 0);                                              \
		} else {                                                                                     \
			const struct ctx_rt_registers caller_ = CTX_RT_CALLER();                             \
			struct ctx_rt_releasing releasing_ = ctx_rt_lock_find(of);                           \
			int32_t holder_ = releasing_.at == CTX_RT_HELD_MAX ? (holder) : 0;                   \
                                                                                                             \
			result_ = (call);                                                                    \
			if (result_ == 0)                                                                    \
				ctx_rt_lock_gone(&releasing_, false, &caller_);                              \
			if (result_ == 0 && holder_ != 0)                                                    \
				ctx_rt_lock_released_for(holder_, of);                                       \
		}                                                                                            \
		result_;                                                                                     \
	})

/* Another function that waits. */
#define WAIT(what, of, call, outcome)                                                                        \
	({                                                                                                   \
		const struct request request_ = REQUEST(what, of);                                           \
		struct ctx_rt_waiting waiting_ = wait_begin(&request_, 0);                                   \
		int result_ = (call);                                                                        \
                                                                                                             \
		if (outcome(result_) != REFUSED)                                                             \
			ctx_rt_wait_end(&waiting_, outcome(result_) != GOT, &request_.caller);               \
		result_;                                                                                     \
	})

/* A wait for a condition variable: the mutex is released and taken again. */
#define WAIT_CONDITION(of, mutex, call, outcome)                                                             \
	({                                                                                                   \
		const struct request request_ = REQUEST(CTX_SYNC_CONDITION, of);                             \
		struct ctx_rt_releasing releasing_ = ctx_rt_lock_find(mutex);                                \
		struct ctx_rt_waiting waiting_ = wait_begin(&request_, 0);                                   \
		int result_;                                                                                 \
                                                                                                             \
		ctx_rt_lock_rest(&releasing_);                                                               \
		result_ = (call);                                                                            \
		if (outcome(result_) == REFUSED) {                                                           \
			ctx_rt_lock_stayed(&releasing_);                                                     \
		} else {                                                                                     \
			ctx_rt_lock_gone(&releasing_, true, &request_.caller);                               \
			ctx_rt_wait_end(&waiting_, outcome(result_) != GOT, &request_.caller);               \
			ctx_rt_lock_again(mutex, &request_.caller);                                          \
		}                                                                                            \
		result_;                                                                                     \
	})

/* A clock, and a time, that is none is an error for some functions also where they need not wait. */
static inline bool is_clock(clockid_t clock)
{
	return clock == CLOCK_MONOTONIC || clock == CLOCK_REALTIME;
}

#define IS_TIME(clock, until) (is_clock(clock) && (until)->tv_nsec >= 0 && (until)->tv_nsec < 1000000000)

/* Mutexes */

static inline int32_t owner_of(const pthread_mutex_t *mutex)
{
	return *(const volatile int *)&mutex->__data.__owner & 0x3fffffff; /* FUTEX_TID_MASK */
}

#define TAKE_MUTEX(call)                                                                                     \
	TAKE(CTX_SYNC_MUTEX, mutex, owner_of(mutex), real.pthread_mutex_trylock(mutex), EBUSY, call,         \
	     outcome_of)

/* All but a free lock: apart, so that this one needs few registers. */
__attribute__((noinline)) static int take_mutex(pthread_mutex_t *mutex, int tried, const uintptr_t *frame)
{
	const struct request request = {
		.object = (uintptr_t)mutex,
		.operation = CTX_SYNC_MUTEX,
		.caller = {.pc = frame[1], .sp = (uintptr_t)(frame + 2), .fp = frame[0]}};
	struct ctx_rt_waiting waiting;
	int error;

	if (tried != EBUSY) {
		if (outcome_of(tried) == GOT)
			took_at_once(&request, false);
		return tried;
	}
	waiting = wait_begin(&request, owner_of(mutex));
	error = real.pthread_mutex_lock(mutex);
	lock_end(&request, &waiting, outcome_of(error));
	return error;
}

EXPORT int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	int tried;

	if (!is_recorded())
		return LIKELY(real.pthread_mutex_lock != NULL) ? real.pthread_mutex_lock(mutex) : 0;
	tried = real.pthread_mutex_trylock(mutex);
	if (LIKELY(tried == 0 && took_simply(mutex, CTX_SYNC_MUTEX, __builtin_return_address(0))))
		return 0;
	return take_mutex(mutex, tried, __builtin_frame_address(0));
}

#define MUTEX_TIMEDLOCK(name, time)                                                                          \
	EXPORT int name(pthread_mutex_t *mutex, const time *until)                                           \
	{                                                                                                    \
		if (!is_recorded())                                                                          \
			return real.name(mutex, until);                                                      \
		return TAKE_MUTEX(real.name(mutex, until));                                                  \
	}
MUTEX_TIMEDLOCK(pthread_mutex_timedlock, struct timespec)

#define MUTEX_CLOCKLOCK(name, time)                                                                          \
	EXPORT int name(pthread_mutex_t *mutex, clockid_t clock, const time *until)                          \
	{                                                                                                    \
		if (!is_recorded() || !is_clock(clock))                                                      \
			return real.name(mutex, clock, until);                                               \
		return TAKE_MUTEX(real.name(mutex, clock, until));                                           \
	}
MUTEX_CLOCKLOCK(pthread_mutex_clocklock, struct timespec)

EXPORT int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	if (!is_recorded())
		return LIKELY(real.pthread_mutex_trylock != NULL) ? real.pthread_mutex_trylock(mutex) : 0;
	return TRY(CTX_SYNC_MUTEX, mutex, real.pthread_mutex_trylock(mutex), outcome_of);
}

EXPORT int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	if (!is_recorded())
		return LIKELY(real.pthread_mutex_unlock != NULL) ? real.pthread_mutex_unlock(mutex) : 0;
	return RELEASE(mutex, owner_of(mutex), real.pthread_mutex_unlock(mutex));
}

/* Read-write locks */

static inline int32_t writer_of(const pthread_rwlock_t *lock)
{
	return *(const volatile int *)&lock->__data.__cur_writer;
}

#define TAKE_READ(call)                                                                                      \
	TAKE(CTX_SYNC_READ_LOCK, lock, writer_of(lock), real.pthread_rwlock_tryrdlock(lock), EBUSY, call,    \
	     outcome_of)
#define TAKE_WRITE(call)                                                                                     \
	TAKE(CTX_SYNC_WRITE_LOCK, lock, writer_of(lock), real.pthread_rwlock_trywrlock(lock), EBUSY, call,   \
	     outcome_of)

EXPORT int pthread_rwlock_rdlock(pthread_rwlock_t *lock)
{
	if (!is_recorded())
		return real.pthread_rwlock_rdlock(lock);
	return TAKE_READ(real.pthread_rwlock_rdlock(lock));
}

#define RWLOCK_TIMEDRDLOCK(name, time)                                                                       \
	EXPORT int name(pthread_rwlock_t *lock, const time *until)                                           \
	{                                                                                                    \
		if (!is_recorded() || !IS_TIME(CLOCK_REALTIME, until))                                       \
			return real.name(lock, until);                                                       \
		return TAKE_READ(real.name(lock, until));                                                    \
	}
RWLOCK_TIMEDRDLOCK(pthread_rwlock_timedrdlock, struct timespec)

#define RWLOCK_CLOCKRDLOCK(name, time)                                                                       \
	EXPORT int name(pthread_rwlock_t *lock, clockid_t clock, const time *until)                          \
	{                                                                                                    \
		if (!is_recorded() || !IS_TIME(clock, until))                                                \
			return real.name(lock, clock, until);                                                \
		return TAKE_READ(real.name(lock, clock, until));                                             \
	}
RWLOCK_CLOCKRDLOCK(pthread_rwlock_clockrdlock, struct timespec)

EXPORT int pthread_rwlock_tryrdlock(pthread_rwlock_t *lock)
{
	if (!is_recorded())
		return real.pthread_rwlock_tryrdlock(lock);
	return TRY(CTX_SYNC_READ_LOCK, lock, real.pthread_rwlock_tryrdlock(lock), outcome_of);
}

EXPORT int pthread_rwlock_wrlock(pthread_rwlock_t *lock)
{
	if (!is_recorded())
		return real.pthread_rwlock_wrlock(lock);
	return TAKE_WRITE(real.pthread_rwlock_wrlock(lock));
}

#define RWLOCK_TIMEDWRLOCK(name, time)                                                                       \
	EXPORT int name(pthread_rwlock_t *lock, const time *until)                                           \
	{                                                                                                    \
		if (!is_recorded() || !IS_TIME(CLOCK_REALTIME, until))                                       \
			return real.name(lock, until);                                                       \
		return TAKE_WRITE(real.name(lock, until));                                                   \
	}
RWLOCK_TIMEDWRLOCK(pthread_rwlock_timedwrlock, struct timespec)

#define RWLOCK_CLOCKWRLOCK(name, time)                                                                       \
	EXPORT int name(pthread_rwlock_t *lock, clockid_t clock, const time *until)                          \
	{                                                                                                    \
		if (!is_recorded() || !IS_TIME(clock, until))                                                \
			return real.name(lock, clock, until);                                                \
		return TAKE_WRITE(real.name(lock, clock, until));                                            \
	}
RWLOCK_CLOCKWRLOCK(pthread_rwlock_clockwrlock, struct timespec)

EXPORT int pthread_rwlock_trywrlock(pthread_rwlock_t *lock)
{
	if (!is_recorded())
		return real.pthread_rwlock_trywrlock(lock);
	return TRY(CTX_SYNC_WRITE_LOCK, lock, real.pthread_rwlock_trywrlock(lock), outcome_of);
}

EXPORT int pthread_rwlock_unlock(pthread_rwlock_t *lock)
{
	if (!is_recorded())
		return real.pthread_rwlock_unlock(lock);
	return RELEASE(lock, 0, real.pthread_rwlock_unlock(lock));
}

/* Spin locks */

EXPORT int pthread_spin_lock(pthread_spinlock_t *lock)
{
	if (!is_recorded())
		return real.pthread_spin_lock(lock);
	return TAKE(CTX_SYNC_SPIN, lock, 0, real.pthread_spin_trylock(lock), EBUSY,
		    real.pthread_spin_lock(lock), outcome_of);
}

EXPORT int pthread_spin_trylock(pthread_spinlock_t *lock)
{
	if (!is_recorded())
		return real.pthread_spin_trylock(lock);
	return TRY(CTX_SYNC_SPIN, lock, real.pthread_spin_trylock(lock), outcome_of);
}

EXPORT int pthread_spin_unlock(pthread_spinlock_t *lock)
{
	if (!is_recorded())
		return real.pthread_spin_unlock(lock);
	return RELEASE(lock, 0, real.pthread_spin_unlock(lock));
}

/* Condition variables */

EXPORT int pthread_cond_wait(pthread_cond_t *condition, pthread_mutex_t *mutex)
{
	if (!is_recorded())
		return real.pthread_cond_wait(condition, mutex);
	return WAIT_CONDITION(condition, mutex, real.pthread_cond_wait(condition, mutex), outcome_of);
}

#define COND_TIMEDWAIT(name, time)                                                                           \
	EXPORT int name(pthread_cond_t *condition, pthread_mutex_t *mutex, const time *until)                \
	{                                                                                                    \
		if (!is_recorded())                                                                          \
			return real.name(condition, mutex, until);                                           \
		return WAIT_CONDITION(condition, mutex, real.name(condition, mutex, until), outcome_of);     \
	}
COND_TIMEDWAIT(pthread_cond_timedwait, struct timespec)

#define COND_CLOCKWAIT(name, time)                                                                           \
	EXPORT int name(pthread_cond_t *condition, pthread_mutex_t *mutex, clockid_t clock,                  \
			const time *until)                                                                   \
	{                                                                                                    \
		if (!is_recorded())                                                                          \
			return real.name(condition, mutex, clock, until);                                    \
		return WAIT_CONDITION(condition, mutex, real.name(condition, mutex, clock, until),           \
				      outcome_of);                                                           \
	}
COND_CLOCKWAIT(pthread_cond_clockwait, struct timespec)

/* Semaphores */

/* They return -1 and set errno. */
static inline enum outcome outcome_of_semaphore(int result)
{
	if (result == 0)
		return GOT;
	return errno == ETIMEDOUT || errno == EINTR ? TIMED_OUT : REFUSED;
}

/* Whether it had to wait for nothing. As the real ones, acts on a cancellation in any case. */
static bool took_semaphore(sem_t *semaphore)
{
	int error = errno;

	pthread_testcancel();
	if (real.sem_trywait(semaphore) == 0)
		return true;
	errno = error;
	return false;
}

EXPORT int sem_wait(sem_t *semaphore)
{
	if (!is_recorded())
		return real.sem_wait(semaphore);
	if (took_semaphore(semaphore))
		return 0;
	return WAIT(CTX_SYNC_SEMAPHORE, semaphore, real.sem_wait(semaphore), outcome_of_semaphore);
}

#define SEM_TIMEDWAIT(name, time)                                                                            \
	EXPORT int name(sem_t *semaphore, const time *until)                                                 \
	{                                                                                                    \
		if (!is_recorded())                                                                          \
			return real.name(semaphore, until);                                                  \
		if (IS_TIME(CLOCK_REALTIME, until) && took_semaphore(semaphore))                             \
			return 0;                                                                            \
		return WAIT(CTX_SYNC_SEMAPHORE, semaphore, real.name(semaphore, until),                      \
			    outcome_of_semaphore);                                                           \
	}
SEM_TIMEDWAIT(sem_timedwait, struct timespec)

#define SEM_CLOCKWAIT(name, time)                                                                            \
	EXPORT int name(sem_t *semaphore, clockid_t clock, const time *until)                                \
	{                                                                                                    \
		if (!is_recorded())                                                                          \
			return real.name(semaphore, clock, until);                                           \
		if (IS_TIME(clock, until) && took_semaphore(semaphore))                                      \
			return 0;                                                                            \
		return WAIT(CTX_SYNC_SEMAPHORE, semaphore, real.name(semaphore, clock, until),               \
			    outcome_of_semaphore);                                                           \
	}
SEM_CLOCKWAIT(sem_clockwait, struct timespec)

/* Barriers and joins */

static inline enum outcome outcome_of_barrier(int result)
{
	return result == PTHREAD_BARRIER_SERIAL_THREAD ? GOT : outcome_of(result);
}

EXPORT int pthread_barrier_wait(pthread_barrier_t *barrier)
{
	if (!is_recorded())
		return real.pthread_barrier_wait(barrier);
	return WAIT(CTX_SYNC_BARRIER, barrier, real.pthread_barrier_wait(barrier), outcome_of_barrier);
}

EXPORT int pthread_join(pthread_t thread, void **ret)
{
	if (!is_recorded())
		return real.pthread_join(thread, ret);
	return WAIT(CTX_SYNC_JOIN, thread, real.pthread_join(thread, ret), outcome_of);
}

#define TIMEDJOIN(name, time)                                                                                \
	EXPORT int name(pthread_t thread, void **ret, const time *until)                                     \
	{                                                                                                    \
		if (!is_recorded())                                                                          \
			return real.name(thread, ret, until);                                                \
		return WAIT(CTX_SYNC_JOIN, thread, real.name(thread, ret, until), outcome_of);               \
	}
TIMEDJOIN(pthread_timedjoin_np, struct timespec)

#define CLOCKJOIN(name, time)                                                                                \
	EXPORT int name(pthread_t thread, void **ret, clockid_t clock, const time *until)                    \
	{                                                                                                    \
		if (!is_recorded())                                                                          \
			return real.name(thread, ret, clock, until);                                         \
		return WAIT(CTX_SYNC_JOIN, thread, real.name(thread, ret, clock, until), outcome_of);        \
	}
CLOCKJOIN(pthread_clockjoin_np, struct timespec)

/* C11: a mtx_t is a pthread_mutex_t */

#define TAKE_MTX(call)                                                                                       \
	TAKE(CTX_SYNC_MUTEX, mutex, owner_of((const pthread_mutex_t *)mutex), real.mtx_trylock(mutex),       \
	     thrd_busy, call, outcome_of_c11)

EXPORT int mtx_lock(mtx_t *mutex)
{
	if (!is_recorded())
		return real.mtx_lock(mutex);
	return TAKE_MTX(real.mtx_lock(mutex));
}

#define MTX_TIMEDLOCK(name, time)                                                                            \
	EXPORT int name(mtx_t *restrict mutex, const time *restrict until)                                   \
	{                                                                                                    \
		if (!is_recorded())                                                                          \
			return real.name(mutex, until);                                                      \
		return TAKE_MTX(real.name(mutex, until));                                                    \
	}
MTX_TIMEDLOCK(mtx_timedlock, struct timespec)

EXPORT int mtx_trylock(mtx_t *mutex)
{
	if (!is_recorded())
		return real.mtx_trylock(mutex);
	return TRY(CTX_SYNC_MUTEX, mutex, real.mtx_trylock(mutex), outcome_of_c11);
}

EXPORT int mtx_unlock(mtx_t *mutex)
{
	if (!is_recorded())
		return real.mtx_unlock(mutex);
	return RELEASE(mutex, owner_of((const pthread_mutex_t *)mutex), real.mtx_unlock(mutex));
}

EXPORT int cnd_wait(cnd_t *condition, mtx_t *mutex)
{
	if (!is_recorded())
		return real.cnd_wait(condition, mutex);
	return WAIT_CONDITION(condition, mutex, real.cnd_wait(condition, mutex), outcome_of_c11);
}

#define CND_TIMEDWAIT(name, time)                                                                            \
	EXPORT int name(cnd_t *restrict condition, mtx_t *restrict mutex, const time *restrict until)        \
	{                                                                                                    \
		if (!is_recorded())                                                                          \
			return real.name(condition, mutex, until);                                           \
		return WAIT_CONDITION(condition, mutex, real.name(condition, mutex, until), outcome_of_c11); \
	}
CND_TIMEDWAIT(cnd_timedwait, struct timespec)

EXPORT int thrd_join(thrd_t thread, int *ret)
{
	if (!is_recorded())
		return real.thrd_join(thread, ret);
	return WAIT(CTX_SYNC_JOIN, thread, real.thrd_join(thread, ret), outcome_of_c11);
}

#ifndef __LP64__
MUTEX_TIMEDLOCK(__pthread_mutex_timedlock64, struct wide_time)
MUTEX_CLOCKLOCK(__pthread_mutex_clocklock64, struct wide_time)
RWLOCK_TIMEDRDLOCK(__pthread_rwlock_timedrdlock64, struct wide_time)
RWLOCK_CLOCKRDLOCK(__pthread_rwlock_clockrdlock64, struct wide_time)
RWLOCK_TIMEDWRLOCK(__pthread_rwlock_timedwrlock64, struct wide_time)
RWLOCK_CLOCKWRLOCK(__pthread_rwlock_clockwrlock64, struct wide_time)
COND_TIMEDWAIT(__pthread_cond_timedwait64, struct wide_time)
COND_CLOCKWAIT(__pthread_cond_clockwait64, struct wide_time)
SEM_TIMEDWAIT(__sem_timedwait64, struct wide_time)
SEM_CLOCKWAIT(__sem_clockwait64, struct wide_time)
TIMEDJOIN(__pthread_timedjoin_np64, struct wide_time)
CLOCKJOIN(__pthread_clockjoin_np64, struct wide_time)
MTX_TIMEDLOCK(__mtx_timedlock64, struct wide_time)
CND_TIMEDWAIT(__cnd_timedwait64, struct wide_time)
#endif
