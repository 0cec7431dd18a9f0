/*
 * Work-sharing constructs. gcc calls libgomp at the begin and the end of loops whose schedule it does not know, of sections, and of a single
 * construct whose result is copied. It calls nothing where a loop has a static schedule, and nothing at the end of another single one.
 *
 *	GOMP_loop_dynamic_start --> begin ... GOMP_loop_end_nowait --> end
 *	                                      GOMP_loop_end --> the wait of its barrier --> end
 *
 * clang's are told by libomp's interface for tools (rt_omp_ompt.c), without their schedule: for that these functions stand
 * in front of libomp's, too.
 */
#include "runtime/rt_omp.h"

#include <stddef.h>

#define EXPORT CTX_RT_OMP_EXPORT
#define REAL(name, is_recorded) CTX_RT_OMP_REAL(name, is_recorded)

typedef unsigned long long ull;

/* --- loops of libgomp --- */

/* `chunk` is the one that was asked for; 0 or less: the runtime's choice. */
static void begin_loop(enum ctx_omp_schedule schedule, int64_t chunk, const struct ctx_rt_registers *caller)
{
	ctx_rt_omp_note_at(CTX_OMP_SHARE_BEGIN, ctx_omp_share_pack(CTX_OMP_SHARE_LOOP, schedule, chunk),
			   caller);
}

#define LOOP(name, schedule, chunk, parameters, ...)                                                         \
	bool name parameters;                                                                                \
	EXPORT bool name parameters                                                                          \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		bool is_recorded;                                                                            \
		__typeof__(&(name)) real = REAL(name, is_recorded);                                          \
                                                                                                             \
		if (is_recorded)                                                                             \
			begin_loop(CTX_OMP_SCHEDULE_##schedule, (int64_t)(chunk), &caller);                  \
		return real(__VA_ARGS__);                                                                    \
	}

/* For both types of the loop's variable. */
#define LOOPS(kind, schedule)                                                                                \
	LOOP(GOMP_loop_##kind##_start, schedule, chunk,                                                      \
	     (long begin, long end, long step, long chunk, long *from, long *to), begin, end, step, chunk,   \
	     from, to)                                                                                       \
	LOOP(GOMP_loop_ull_##kind##_start, schedule, chunk,                                                  \
	     (bool up, ull begin, ull end, ull step, ull chunk, ull *from, ull *to), up, begin, end, step,   \
	     chunk, from, to)
LOOPS(static, STATIC)
LOOPS(dynamic, DYNAMIC)
LOOPS(guided, GUIDED)
LOOPS(nonmonotonic_dynamic, DYNAMIC)
LOOPS(nonmonotonic_guided, GUIDED)
LOOPS(ordered_static, STATIC)
LOOPS(ordered_dynamic, DYNAMIC)
LOOPS(ordered_guided, GUIDED)

#define RUNTIME_LOOPS(kind)                                                                                  \
	LOOP(GOMP_loop_##kind##_start, RUNTIME, 0, (long begin, long end, long step, long *from, long *to),  \
	     begin, end, step, from, to)                                                                     \
	LOOP(GOMP_loop_ull_##kind##_start, RUNTIME, 0,                                                       \
	     (bool up, ull begin, ull end, ull step, ull *from, ull *to), up, begin, end, step, from, to)
RUNTIME_LOOPS(runtime)
RUNTIME_LOOPS(nonmonotonic_runtime)
RUNTIME_LOOPS(maybe_nonmonotonic_runtime)
RUNTIME_LOOPS(ordered_runtime)

#define DOACROSS_LOOPS(kind, schedule)                                                                       \
	LOOP(GOMP_loop_doacross_##kind##_start, schedule, chunk,                                             \
	     (unsigned n, long *counts, long chunk, long *from, long *to), n, counts, chunk, from, to)       \
	LOOP(GOMP_loop_ull_doacross_##kind##_start, schedule, chunk,                                         \
	     (unsigned n, ull *counts, ull chunk, ull *from, ull *to), n, counts, chunk, from, to)
DOACROSS_LOOPS(static, STATIC)
DOACROSS_LOOPS(dynamic, DYNAMIC)
DOACROSS_LOOPS(guided, GUIDED)
LOOP(GOMP_loop_doacross_runtime_start, RUNTIME, 0, (unsigned n, long *counts, long *from, long *to), n,
     counts, from, to)
LOOP(GOMP_loop_ull_doacross_runtime_start, RUNTIME, 0, (unsigned n, ull *counts, ull *from, ull *to), n,
     counts, from, to)

/* With reductions of tasks, or inscan: the schedule is a number of libgomp's, perhaps with its highest bit set. */
static enum ctx_omp_schedule schedule_of_libgomp(long number)
{
	static const uint8_t schedules[] = {CTX_OMP_SCHEDULE_RUNTIME, CTX_OMP_SCHEDULE_STATIC,
					    CTX_OMP_SCHEDULE_DYNAMIC, CTX_OMP_SCHEDULE_GUIDED,
					    CTX_OMP_SCHEDULE_AUTO};
	unsigned low = (unsigned)number & 0xffff;

	return low < sizeof(schedules) ? (enum ctx_omp_schedule)schedules[low] : CTX_OMP_SCHEDULE_NONE;
}

#define ANY_LOOP(name, type, first, ...)                                                                     \
	bool name(first type begin, type end, type step, long schedule, type chunk, type *from, type *to,    \
		  uintptr_t *reductions, void **memory);                                                     \
	EXPORT bool name(first type begin, type end, type step, long schedule, type chunk, type *from,       \
			 type *to, uintptr_t *reductions, void **memory)                                     \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		bool is_recorded;                                                                            \
		__typeof__(&(name)) real = REAL(name, is_recorded);                                          \
                                                                                                             \
		/* Without a place for its share nothing of the loop begins yet. */                          \
		if (is_recorded && from != NULL)                                                             \
			begin_loop(schedule_of_libgomp(schedule), (int64_t)chunk, &caller);                  \
		return real(__VA_ARGS__ begin, end, step, schedule, chunk, from, to, reductions, memory);    \
	}
#define NOTHING
#define UP bool up,
#define UP_GIVEN up,
ANY_LOOP(GOMP_loop_start, long, NOTHING, NOTHING)
ANY_LOOP(GOMP_loop_ordered_start, long, NOTHING, NOTHING)
ANY_LOOP(GOMP_loop_ull_start, ull, UP, UP_GIVEN)
ANY_LOOP(GOMP_loop_ull_ordered_start, ull, UP, UP_GIVEN)

/* --- sections, single --- */

static const uint64_t sections = CTX_OMP_SHARE_SECTIONS, single = CTX_OMP_SHARE_SINGLE;

unsigned GOMP_sections_start(unsigned count);
EXPORT unsigned GOMP_sections_start(unsigned count)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	bool is_recorded;
	__typeof__(&GOMP_sections_start) real = REAL(GOMP_sections_start, is_recorded);

	if (is_recorded)
		ctx_rt_omp_note_at(CTX_OMP_SHARE_BEGIN, sections, &caller);
	return real(count);
}

unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory);
EXPORT unsigned GOMP_sections2_start(unsigned count, uintptr_t *reductions, void **memory)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	bool is_recorded;
	__typeof__(&GOMP_sections2_start) real = REAL(GOMP_sections2_start, is_recorded);

	if (is_recorded)
		ctx_rt_omp_note_at(CTX_OMP_SHARE_BEGIN, sections, &caller);
	return real(count, reductions, memory);
}

/* NULL: this thread runs it, and calls GOMP_single_copy_end. The others wait for what it has copied. */
void *GOMP_single_copy_start(void);
EXPORT void *GOMP_single_copy_start(void)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	bool is_recorded;
	__typeof__(&GOMP_single_copy_start) real = REAL(GOMP_single_copy_start, is_recorded);
	void *copied;

	if (!is_recorded)
		return real();
	ctx_rt_omp_note_at(CTX_OMP_SHARE_BEGIN, single, &caller);
	ctx_rt_omp_note(CTX_OMP_ENTER, CTX_OMP_IMPLICIT_BARRIER);
	copied = real();
	ctx_rt_omp_note(CTX_OMP_LEAVE, CTX_OMP_IMPLICIT_BARRIER);
	if (copied != NULL)
		ctx_rt_omp_note(CTX_OMP_SHARE_END, single);
	return copied;
}

void GOMP_single_copy_end(void *copied);
EXPORT void GOMP_single_copy_end(void *copied)
{
	bool is_recorded;
	__typeof__(&GOMP_single_copy_end) real = REAL(GOMP_single_copy_end, is_recorded);

	if (is_recorded)
		ctx_rt_omp_note(CTX_OMP_ENTER, CTX_OMP_IMPLICIT_BARRIER);
	real(copied);
	if (is_recorded) {
		ctx_rt_omp_note(CTX_OMP_LEAVE, CTX_OMP_IMPLICIT_BARRIER);
		ctx_rt_omp_note(CTX_OMP_SHARE_END, single);
	}
}

/* --- ends --- */

/* The wait of the construct's own barrier is a part of it. */
#define END(type, name, share, keep, give)                                                                   \
	type name(void);                                                                                     \
	EXPORT type name(void)                                                                               \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		bool is_recorded;                                                                            \
		__typeof__(&(name)) real = REAL(name, is_recorded);                                          \
                                                                                                             \
		if (is_recorded)                                                                             \
			ctx_rt_omp_note_at(CTX_OMP_ENTER, CTX_OMP_IMPLICIT_BARRIER, &caller);                \
		keep real();                                                                                 \
		if (is_recorded) {                                                                           \
			ctx_rt_omp_note(CTX_OMP_LEAVE, CTX_OMP_IMPLICIT_BARRIER);                            \
			ctx_rt_omp_note(CTX_OMP_SHARE_END, (share));                                         \
		}                                                                                            \
		give;                                                                                        \
	}

#define END_NOWAIT(name, share)                                                                              \
	void name(void);                                                                                     \
	EXPORT void name(void)                                                                               \
	{                                                                                                    \
		bool is_recorded;                                                                            \
		__typeof__(&(name)) real = REAL(name, is_recorded);                                          \
                                                                                                             \
		real();                                                                                      \
		if (is_recorded)                                                                             \
			ctx_rt_omp_note(CTX_OMP_SHARE_END, (share));                                         \
	}

#define RESULT bool is_cancelled =
// clang-format off
END(void, GOMP_loop_end, CTX_OMP_SHARE_LOOP, , return)
END(bool, GOMP_loop_end_cancel, CTX_OMP_SHARE_LOOP, RESULT, return is_cancelled)
END_NOWAIT(GOMP_loop_end_nowait, CTX_OMP_SHARE_LOOP)
END(void, GOMP_sections_end, sections, , return)
END(bool, GOMP_sections_end_cancel, sections, RESULT, return is_cancelled)
END_NOWAIT(GOMP_sections_end_nowait, sections)
// clang-format on

/* --- schedules of libomp --- */

__thread uint64_t ctx_rt_omp_schedule CTX_RT_TLS;

/* enum sched_type of kmp.h: those of ordered loops are 32 more; the two highest bits but one are modifiers. */
static uint64_t pack_schedule(int32_t type, int64_t chunk)
{
	static const uint8_t schedules[] = {CTX_OMP_SCHEDULE_STATIC,  CTX_OMP_SCHEDULE_STATIC,
					    CTX_OMP_SCHEDULE_DYNAMIC, CTX_OMP_SCHEDULE_GUIDED,
					    CTX_OMP_SCHEDULE_RUNTIME, CTX_OMP_SCHEDULE_AUTO};
	const uint32_t first = 33, ordered = 32;
	uint32_t number = (uint32_t)type & 0x1fffffffu;

	number -= number >= first + ordered ? ordered : 0;
	if (number < first || number - first >= sizeof(schedules))
		return 0;
	/* What has no chunk is given 1, or nothing that counts. */
	if (number == first + 1 || number > first + 3)
		chunk = 0;
	return ctx_omp_share_pack(CTX_OMP_SHARE_LOOP, (enum ctx_omp_schedule)schedules[number - first],
				  chunk);
}

/* The callback of the tool comes while the real one runs. */
#define KMP_LOOP(name, type, chunk, parameters, ...)                                                         \
	void name parameters;                                                                                \
	EXPORT void name parameters                                                                          \
	{                                                                                                    \
		bool is_recorded;                                                                            \
		__typeof__(&(name)) real = REAL(name, is_recorded);                                          \
                                                                                                             \
		ctx_rt_omp_schedule = pack_schedule(type, (int64_t)(chunk));                                 \
		real(__VA_ARGS__);                                                                           \
		ctx_rt_omp_schedule = 0;                                                                     \
	}

#define KMP_LOOPS(suffix, bound, number)                                                                     \
	KMP_LOOP(__kmpc_for_static_init_##suffix, schedule, chunk,                                           \
		 (void *place, int32_t thread, int32_t schedule, int32_t *is_last, bound *from, bound *to,   \
		  number *stride, number step, number chunk),                                                \
		 place, thread, schedule, is_last, from, to, stride, step, chunk)                            \
	KMP_LOOP(__kmpc_dispatch_init_##suffix, schedule, chunk,                                             \
		 (void *place, int32_t thread, int32_t schedule, bound from, bound to, number step,          \
		  number chunk),                                                                             \
		 place, thread, schedule, from, to, step, chunk)
KMP_LOOPS(4, int32_t, int32_t)
KMP_LOOPS(4u, uint32_t, int32_t)
KMP_LOOPS(8, int64_t, int64_t)
KMP_LOOPS(8u, uint64_t, int64_t)
