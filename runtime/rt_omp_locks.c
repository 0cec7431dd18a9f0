/*
 * Critical and atomic sections and locks of libgomp. One that is free costs neither clock nor record: locks are tried
 * first, and of sections this library counts who wants them (rt_omp.h).
 */
#include "runtime/rt_omp.h"

#include <stddef.h>

#define EXPORT CTX_RT_OMP_EXPORT
#define REAL(name, is_recorded) CTX_RT_OMP_REAL(name, is_recorded)

/* Waits, if somebody else has it or wants it. */
#define TAKE(object, state, call)                                                                            \
	({                                                                                                   \
		bool is_free_ = ctx_rt_omp_want(object);                                                     \
                                                                                                             \
		if (!is_free_) {                                                                             \
			const struct ctx_rt_registers caller_ = CTX_RT_CALLER();                             \
                                                                                                             \
			ctx_rt_omp_note_at(CTX_OMP_ENTER, (state), &caller_);                                \
		}                                                                                            \
		call;                                                                                        \
		if (!is_free_)                                                                               \
			ctx_rt_omp_note(CTX_OMP_LEAVE, (state));                                             \
	})

/* The two without a name. */
static const char unnamed_critical, unnamed_atomic;

#define SECTION(start, end, parameter, argument, object, state)                                              \
	void start(parameter);                                                                               \
	EXPORT void start(parameter)                                                                         \
	{                                                                                                    \
		bool is_recorded;                                                                            \
		__typeof__(&(start)) real = REAL(start, is_recorded);                                        \
                                                                                                             \
		if (is_recorded)                                                                             \
			TAKE((uintptr_t)(object), state, real(argument));                                    \
		else                                                                                         \
			real(argument);                                                                      \
	}                                                                                                    \
	void end(parameter);                                                                                 \
	EXPORT void end(parameter)                                                                           \
	{                                                                                                    \
		bool is_recorded;                                                                            \
		__typeof__(&(end)) real = REAL(end, is_recorded);                                            \
                                                                                                             \
		real(argument);                                                                              \
		if (is_recorded)                                                                             \
			ctx_rt_omp_give_up((uintptr_t)(object));                                             \
	}

// clang-format off
SECTION(GOMP_critical_start, GOMP_critical_end, void, , &unnamed_critical, CTX_OMP_CRITICAL_WAIT)
SECTION(GOMP_critical_name_start, GOMP_critical_name_end, void **name, name, name, CTX_OMP_CRITICAL_WAIT)
SECTION(GOMP_atomic_start, GOMP_atomic_end, void, , &unnamed_atomic, CTX_OMP_ATOMIC_WAIT)
// clang-format on

/* A function that takes a lock, and the one that tries; both also under the names that Fortran calls. */
#define LOCK(set, test, tested)                                                                              \
	void set(void *lock);                                                                                \
	tested test(void *lock);                                                                             \
	EXPORT void set(void *lock)                                                                          \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		bool is_recorded;                                                                            \
		__typeof__(&(set)) real = REAL(set, is_recorded);                                            \
		__typeof__(&(test)) try = REAL(test, is_recorded);                                           \
                                                                                                             \
		if (is_recorded && try != NULL && try(lock) != 0)                                            \
			return;                                                                              \
		if (is_recorded)                                                                             \
			ctx_rt_omp_note_at(CTX_OMP_ENTER, CTX_OMP_LOCK_WAIT, &caller);                       \
		real(lock);                                                                                  \
		if (is_recorded)                                                                             \
			ctx_rt_omp_note(CTX_OMP_LEAVE, CTX_OMP_LOCK_WAIT);                                   \
	}

LOCK(omp_set_lock, omp_test_lock, int)
LOCK(omp_set_nest_lock, omp_test_nest_lock, int)
LOCK(omp_set_lock_, omp_test_lock_, int32_t)
LOCK(omp_set_nest_lock_, omp_test_nest_lock_, int32_t)
