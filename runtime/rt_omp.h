/*
 * OpenMP inside the target: events of threads of teams (model/omp.h), one record each.
 *
 *	LLVM's libomp --OMPT--> rt_omp_ompt.c --------.
 *	gcc's libgomp <--the program's calls--        v
 *	                       rt_omp_gomp.c, --> rt_omp.c --> ring of the thread
 *	                       rt_omp_tasks.c, rt_omp_locks.c, rt_omp_shares.c
 *
 * libgomp has no interface for tools: the functions that compilers call stand in front of its own. What they are
 * given to run, a region or a task, runs inside a function of this library, which sees each thread of the team begin
 * and end it. Where the functions are libomp's, which has them for programs of gcc, they only hand on.
 */
#ifndef CTX_RUNTIME_RT_OMP_H
#define CTX_RUNTIME_RT_OMP_H

#include "model/omp.h"
#include "runtime/rt_process.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* One record: time, event, value. errno is kept by this and all below. */
void ctx_rt_omp_note(enum ctx_omp_event event, uint64_t value);

/* The same with the stack of `caller`. */
void ctx_rt_omp_note_at(enum ctx_omp_event event, uint64_t value, const struct ctx_rt_registers *caller);

/* The same of what another thread has caused: its time is not before that of the cause, however early the processor reads ticks. */
void ctx_rt_omp_note_after(enum ctx_omp_event event, uint64_t value);

/* That of a construct that runs the function `body`. */
void ctx_rt_omp_note_body(enum ctx_omp_event event, uint32_t number, const void *body,
			  const struct ctx_rt_registers *caller);

/* The next number of a region or a task of this process; never 0. */
uint32_t ctx_rt_omp_number(void);

/* A function of libgomp has the lowest bit of its place set: functions are aligned. */
#define CTX_RT_OMP_OF_LIBGOMP ((uintptr_t)1)

uintptr_t ctx_rt_omp_look_up(const char *name, _Atomic(uintptr_t) *place);

/*
 * The function of libgomp that a name of this library stands in front of; looked up once and kept in `*place`. `*is_recorded`:
 * it is libgomp's, and OpenMP is recorded. errno is kept.
 */
static inline void *ctx_rt_omp_real(const char *name, _Atomic(uintptr_t) *place, bool *is_recorded)
{
	uintptr_t found = atomic_load_explicit(place, memory_order_acquire);

	if (__builtin_expect(found == 0, 0))
		found = ctx_rt_omp_look_up(name, place);
	*is_recorded = (found & CTX_RT_OMP_OF_LIBGOMP) != 0 && ctx_rt_is_on(CTX_RT_WHAT_OMP);
	return (void *)(found & ~CTX_RT_OMP_OF_LIBGOMP);
}

/* A runtime has taken this library for its tool (rt_omp_ompt.c). */
extern _Atomic bool ctx_rt_omp_is_tool;

/* libomp is about to begin a loop with this schedule (ctx_omp_share_pack); 0: none. */
extern __thread uint64_t ctx_rt_omp_schedule CTX_RT_TLS;

/*
 * What a program of gcc has asked libomp for on this thread, which tells its tool less: the function of the region that is about to begin (NULL: none),
 * and whether the barrier is one of the program's own.
 */
extern __thread const void *ctx_rt_omp_body CTX_RT_TLS;
extern __thread bool ctx_rt_omp_in_barrier CTX_RT_TLS;

/* How many threads hold or want what one lock, critical section, ... is; by its address, some of which share a number. */
#define CTX_RT_OMP_WANTED 256u
extern _Atomic uint32_t ctx_rt_omp_wanted[CTX_RT_OMP_WANTED];

static inline _Atomic uint32_t *ctx_rt_omp_wanted_of(uint64_t object)
{
	return &ctx_rt_omp_wanted[(object * 0x9e3779b97f4a7c15u) >> 56];
}

/* Whether nobody else had it; the thread wants it from here on, until ctx_rt_omp_give_up. */
static inline bool ctx_rt_omp_want(uint64_t object)
{
	return atomic_fetch_add_explicit(ctx_rt_omp_wanted_of(object), 1, memory_order_relaxed) == 0;
}

static inline void ctx_rt_omp_give_up(uint64_t object)
{
	atomic_fetch_sub_explicit(ctx_rt_omp_wanted_of(object), 1, memory_order_relaxed);
}

/* Functions of this library that programs call in place of libgomp's: the real one, and whether it is recorded. */
#define CTX_RT_OMP_REAL(name, is_recorded)                                                                   \
	({                                                                                                   \
		static _Atomic(uintptr_t) place_;                                                            \
                                                                                                             \
		(__typeof__(&(name)))ctx_rt_omp_real(#name, &place_, &(is_recorded));                        \
	})

#define CTX_RT_OMP_EXPORT __attribute__((visibility("default"), hot, noinline))

#endif
