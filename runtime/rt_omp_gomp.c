/*
 * The functions of libgomp that begin regions and wait for teams, as gcc calls them for programs in C, C++ and Fortran.
 *
 *	program --> GOMP_parallel (here) --> GOMP_parallel (libgomp) --> run_region (here), each thread --> f._omp_fn.0
 *
 * run_region records when a thread begins and ends its part. Worker threads wait for the next region inside libgomp:
 * that they are idle follows from the region's end.
 */
#include "runtime/rt_omp.h"

#include <stddef.h>

#define EXPORT CTX_RT_OMP_EXPORT
#define REAL(name, is_recorded) CTX_RT_OMP_REAL(name, is_recorded)

typedef void function(void *data);

/* In the frame of the thread that begins the region, which outlives it. */
struct region {
	function *body;
	void *data;
	const struct ctx_rt_own *master; /* that thread's */
	uint32_t number;
};

__attribute__((hot, noinline)) static void run_region(void *of)
{
	const struct region region = *(const struct region *)of;

	if (region.master == &ctx_rt_own)
		ctx_rt_omp_note(CTX_OMP_JOIN, region.number);
	else
		ctx_rt_omp_note_after(CTX_OMP_JOIN, region.number);
	region.body(region.data);
	ctx_rt_omp_note(CTX_OMP_ENTER, CTX_OMP_IMPLICIT_BARRIER);
}

static struct region begin(function *body, void *data, const struct ctx_rt_registers *caller)
{
	struct region region = {
		.body = body, .data = data, .master = &ctx_rt_own, .number = ctx_rt_omp_number()};

	ctx_rt_omp_note_body(CTX_OMP_REGION_BEGIN, region.number, (const void *)(uintptr_t)body, caller);
	return region;
}

static void end(const struct region *region)
{
	ctx_rt_omp_note(CTX_OMP_REGION_END, region->number);
}

/* Regions: the function, its data, and then whatever the real one takes. `share`: the loop that they are; 0: none. */
#define PARALLEL(name, share, parameters, ...)                                                               \
	void name parameters;                                                                                \
	EXPORT void name parameters                                                                          \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		bool is_recorded;                                                                            \
		__typeof__(&(name)) real = REAL(name, is_recorded);                                          \
		struct region region;                                                                        \
                                                                                                             \
		if (!is_recorded) {                                                                          \
			ctx_rt_omp_body = (const void *)(uintptr_t)body;                                     \
			real(body, data, __VA_ARGS__);                                                       \
			ctx_rt_omp_body = NULL;                                                              \
			return;                                                                              \
		}                                                                                            \
		region = begin(body, data, &caller);                                                         \
		if ((share) != 0)                                                                            \
			ctx_rt_omp_note(CTX_OMP_SCHEDULED, (share));                                         \
		real(run_region, &region, __VA_ARGS__);                                                      \
		end(&region);                                                                                \
	}

PARALLEL(GOMP_parallel, 0, (function * body, void *data, unsigned threads, unsigned flags), threads, flags)
PARALLEL(GOMP_parallel_sections, 0,
	 (function * body, void *data, unsigned threads, unsigned sections, unsigned flags), threads,
	 sections, flags)

#define PARALLEL_LOOP(name, schedule)                                                                        \
	PARALLEL(name, ctx_omp_share_pack(CTX_OMP_SHARE_LOOP, CTX_OMP_SCHEDULE_##schedule, chunk),           \
		 (function * body, void *data, unsigned threads, long from, long to, long step, long chunk,  \
		  unsigned flags),                                                                           \
		 threads, from, to, step, chunk, flags)
PARALLEL_LOOP(GOMP_parallel_loop_static, STATIC)
PARALLEL_LOOP(GOMP_parallel_loop_dynamic, DYNAMIC)
PARALLEL_LOOP(GOMP_parallel_loop_guided, GUIDED)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_dynamic, DYNAMIC)
PARALLEL_LOOP(GOMP_parallel_loop_nonmonotonic_guided, GUIDED)

#define PARALLEL_LOOP_RUNTIME(name)                                                                          \
	PARALLEL(name, ctx_omp_share_pack(CTX_OMP_SHARE_LOOP, CTX_OMP_SCHEDULE_RUNTIME, 0),                  \
		 (function * body, void *data, unsigned threads, long from, long to, long step,              \
		  unsigned flags),                                                                           \
		 threads, from, to, step, flags)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_nonmonotonic_runtime)
PARALLEL_LOOP_RUNTIME(GOMP_parallel_loop_maybe_nonmonotonic_runtime)

/* Of task reductions the data begins with a pointer that libgomp reads, and follows. */
struct reducing {
	uintptr_t reductions;
	struct region region;
};

__attribute__((noinline)) static void run_reducing(void *of)
{
	run_region(&((struct reducing *)of)->region);
}

unsigned GOMP_parallel_reductions(function *body, void *data, unsigned threads, unsigned flags);
EXPORT unsigned GOMP_parallel_reductions(function *body, void *data, unsigned threads, unsigned flags)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	bool is_recorded;
	__typeof__(&GOMP_parallel_reductions) real = REAL(GOMP_parallel_reductions, is_recorded);
	struct reducing reducing;
	unsigned got;

	if (!is_recorded)
		return real(body, data, threads, flags);
	reducing = (struct reducing){.reductions = *(const uintptr_t *)data,
				     .region = begin(body, data, &caller)};
	got = real(run_reducing, &reducing, threads, flags);
	end(&reducing.region);
	return got;
}

/* Waits for the team */

#define WAIT(state, caller, call)                                                                            \
	({                                                                                                   \
		ctx_rt_omp_note_at(CTX_OMP_ENTER, (state), (caller));                                        \
		call;                                                                                        \
		ctx_rt_omp_note(CTX_OMP_LEAVE, (state));                                                     \
	})

/* A function without parameters that waits in a state. */
#define WAITING(name, state)                                                                                 \
	void name(void);                                                                                     \
	EXPORT void name(void)                                                                               \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		bool is_recorded;                                                                            \
		__typeof__(&(name)) real = REAL(name, is_recorded);                                          \
                                                                                                             \
		if (is_recorded)                                                                             \
			WAIT(state, &caller, real());                                                        \
		else                                                                                         \
			real();                                                                              \
	}

/* The same with a result. */
#define WAITING_FOR(type, name, state)                                                                       \
	type name(void);                                                                                     \
	EXPORT type name(void)                                                                               \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		bool is_recorded;                                                                            \
		__typeof__(&(name)) real = REAL(name, is_recorded);                                          \
		type result;                                                                                 \
                                                                                                             \
		if (!is_recorded)                                                                            \
			return real();                                                                       \
		WAIT(state, &caller, result = real());                                                       \
		return result;                                                                               \
	}

/* gcc calls it also at the end of a loop whose schedule it knows. */
void GOMP_barrier(void);
EXPORT void GOMP_barrier(void)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	bool is_recorded;
	__typeof__(&GOMP_barrier) real = REAL(GOMP_barrier, is_recorded);

	ctx_rt_omp_in_barrier = true;
	if (is_recorded)
		WAIT(CTX_OMP_EXPLICIT_BARRIER, &caller, real());
	else
		real();
	ctx_rt_omp_in_barrier = false;
}

WAITING_FOR(bool, GOMP_barrier_cancel, CTX_OMP_EXPLICIT_BARRIER)
WAITING(GOMP_ordered_start, CTX_OMP_ORDERED_WAIT)
WAITING(GOMP_taskwait, CTX_OMP_TASKWAIT)
WAITING(GOMP_taskgroup_end, CTX_OMP_TASKWAIT)

void GOMP_taskwait_depend(void **depend);
EXPORT void GOMP_taskwait_depend(void **depend)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	bool is_recorded;
	__typeof__(&GOMP_taskwait_depend) real = REAL(GOMP_taskwait_depend, is_recorded);

	if (is_recorded)
		WAIT(CTX_OMP_TASKWAIT, &caller, real(depend));
	else
		real(depend);
}
