/*
 * Explicit tasks of libgomp: what it is given to run is a function of this library, which records the begin and the end
 * of the task, with data that begins with what it needs for that:
 *
 *	task		struct task, then the program's data as it aligns them
 *	taskloop	begin and end of the task's share and a pointer, all of which libgomp reads or writes, struct task, then the data
 *
 * libgomp copies data when it keeps a task for later, by the program's own function if there is one.
 */
#include "runtime/rt_omp.h"

#include <stddef.h>
#include <string.h>

#define EXPORT CTX_RT_OMP_EXPORT
#define REAL(name, is_recorded) CTX_RT_OMP_REAL(name, is_recorded)
#define DATA_MAX 16384	    /* bytes, on the stack of who creates the task; larger tasks are not recorded */
#define FLAG_DETACH 0x2000u /* libgomp writes at the begin of the data: such tasks are not recorded */

typedef void function(void *data);
typedef void copier(void *to, void *from);

struct task {
	function *body;
	copier *copy;	 /* NULL: data is copied as bytes */
	void *data;	 /* of who created it */
	uint32_t offset; /* of the data, from the begin of the block */
	uint32_t number;
};

struct request { /* what libgomp was asked to make */
	function *body;
	copier *copy;
	void *data;
	long size, align;
};

/* Whether the task can run inside a function of this library. */
static bool can_wrap(const struct request *request, unsigned flags)
{
	return request->size >= 0 && request->size <= DATA_MAX && request->align <= 64 &&
	       (flags & FLAG_DETACH) == 0;
}

static long larger(long a, long b)
{
	return a > b ? a : b;
}

static long offset_of(const struct request *request, size_t before)
{
	long align = larger(request->align, (long)sizeof(uint64_t));

	return ((long)before + align - 1) / align * align;
}

static struct task task_of(const struct request *request, long offset)
{
	return (struct task){.body = request->body,
			     .copy = request->copy,
			     .data = request->data,
			     .offset = (uint32_t)offset,
			     .number = ctx_rt_omp_number()};
}

/* The first aligned address of `room`, which is `align` bytes larger than what is put there. */
static uint8_t *aligned(uint8_t *room, long align)
{
	uintptr_t rest = (uintptr_t)room % (uintptr_t)align;

	return rest != 0 ? room + ((uintptr_t)align - rest) : room;
}

static void run(const struct task *task, uint8_t *block)
{
	ctx_rt_omp_note_after(CTX_OMP_TASK_BEGIN, task->number);
	task->body(block + task->offset);
	ctx_rt_omp_note(CTX_OMP_TASK_END, task->number);
}

__attribute__((noinline)) static void run_task(void *block)
{
	const struct task task = *(const struct task *)block;

	run(&task, block);
}

static void copy_task(void *to, void *from)
{
	const struct task *task = from;

	memcpy(to, from, sizeof(*task));
	task->copy((uint8_t *)to + task->offset, task->data);
}

void GOMP_task(function *body, void *data, copier *copy, long size, long align, bool is_deferred,
	       unsigned flags, void **depend, int priority, void *detach);
EXPORT void GOMP_task(function *body, void *data, copier *copy, long size, long align, bool is_deferred,
		      unsigned flags, void **depend, int priority, void *detach)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	const struct request request = {body, copy, data, size, align};
	bool is_recorded;
	__typeof__(&GOMP_task) real = REAL(GOMP_task, is_recorded);
	struct task task;
	long offset, all;

	if (!is_recorded || !can_wrap(&request, flags)) {
		real(body, data, copy, size, align, is_deferred, flags, depend, priority, detach);
		return;
	}
	offset = offset_of(&request, sizeof(task));
	align = larger(align, (long)sizeof(uint64_t));
	all = offset + size;
	task = task_of(&request, offset);
	ctx_rt_omp_note_body(CTX_OMP_TASK_DISPATCHED, task.number, (const void *)(uintptr_t)body, &caller);
	{
		uint8_t room[all + align], *block = aligned(room, align);

		memcpy(block, &task, sizeof(task));
		if (copy == NULL && size != 0)
			memcpy(block + offset, data, (size_t)size);
		real(run_task, block, copy != NULL ? copy_task : NULL, all, align, is_deferred, flags, depend,
		     priority, detach);
	}
	ctx_rt_omp_note(CTX_OMP_LEAVE, CTX_OMP_TASK_DISPATCH);
}

/* For each type of the loop's variable. */
#define TASKLOOP(name, type)                                                                                 \
	struct loop_of_##name {                                                                              \
		type begin, end;       /* of the share; libgomp writes them */                               \
		uintptr_t *reductions; /* libgomp reads it where there are task reductions */                \
		struct task task;                                                                            \
	};                                                                                                   \
                                                                                                             \
	__attribute__((noinline)) static void run_##name(void *block)                                        \
	{                                                                                                    \
		const struct loop_of_##name loop = *(const struct loop_of_##name *)block;                    \
		type *share = (type *)((uint8_t *)block + loop.task.offset);                                 \
                                                                                                             \
		share[0] = loop.begin;                                                                       \
		share[1] = loop.end;                                                                         \
		run(&loop.task, block);                                                                      \
	}                                                                                                    \
                                                                                                             \
	static void copy_##name(void *to, void *from)                                                        \
	{                                                                                                    \
		const struct loop_of_##name *loop = from;                                                    \
                                                                                                             \
		memcpy(to, from, sizeof(*loop));                                                             \
		loop->task.copy((uint8_t *)to + loop->task.offset, loop->task.data);                         \
	}                                                                                                    \
                                                                                                             \
	void name(function *body, void *data, copier *copy, long size, long align, unsigned flags,           \
		  unsigned long n, int priority, type begin, type end, type step);                           \
	EXPORT void name(function *body, void *data, copier *copy, long size, long align, unsigned flags,    \
			 unsigned long n, int priority, type begin, type end, type step)                     \
	{                                                                                                    \
		const struct ctx_rt_registers caller = CTX_RT_CALLER();                                      \
		const struct request request = {body, copy, data, size, align};                              \
		bool is_recorded;                                                                            \
		__typeof__(&(name)) real = REAL(name, is_recorded);                                          \
		struct loop_of_##name loop = {.reductions = NULL};                                           \
		long offset, all;                                                                            \
                                                                                                             \
		if (!is_recorded || !can_wrap(&request, flags) || size < (long)(2 * sizeof(type))) {         \
			real(body, data, copy, size, align, flags, n, priority, begin, end, step);           \
			return;                                                                              \
		}                                                                                            \
		offset = offset_of(&request, sizeof(loop));                                                  \
		align = larger(align, (long)sizeof(uint64_t));                                               \
		all = offset + size;                                                                         \
		loop.task = task_of(&request, offset);                                                       \
		if (size >= (long)(2 * sizeof(type) + sizeof(uintptr_t)))                                    \
			memcpy(&loop.reductions, (const uint8_t *)data + 2 * sizeof(type),                   \
			       sizeof(loop.reductions));                                                     \
		ctx_rt_omp_note_body(CTX_OMP_TASKS_DISPATCHED, loop.task.number,                             \
				     (const void *)(uintptr_t)body, &caller);                                \
		{                                                                                            \
			uint8_t room[all + align], *block = aligned(room, align);                            \
                                                                                                             \
			memcpy(block, &loop, sizeof(loop));                                                  \
			if (copy == NULL)                                                                    \
				memcpy(block + offset, data, (size_t)size);                                  \
			real(run_##name, block, copy != NULL ? copy_##name : NULL, all, align, flags, n,     \
			     priority, begin, end, step);                                                    \
		}                                                                                            \
		ctx_rt_omp_note(CTX_OMP_LEAVE, CTX_OMP_TASK_DISPATCH);                                       \
	}

TASKLOOP(GOMP_taskloop, long)
TASKLOOP(GOMP_taskloop_ull, unsigned long long)

/*
 * libomp reports when a task is made, and not that it has been: these are what clang calls to have it run. What it runs
 * at once is work.
 */
#define DISPATCH(name, parameters, ...)                                                                      \
	int32_t name parameters;                                                                             \
	EXPORT int32_t name parameters                                                                       \
	{                                                                                                    \
		bool is_libgomps, is_on = atomic_load_explicit(&ctx_rt_omp_is_tool, memory_order_relaxed);   \
		__typeof__(&(name)) real = REAL(name, is_libgomps);                                          \
		int32_t result;                                                                              \
                                                                                                             \
		if (is_on)                                                                                   \
			ctx_rt_omp_note(CTX_OMP_ENTER, CTX_OMP_TASK_DISPATCH);                               \
		result = real(__VA_ARGS__);                                                                  \
		if (is_on)                                                                                   \
			ctx_rt_omp_note(CTX_OMP_LEAVE, CTX_OMP_TASK_DISPATCH);                               \
		return result;                                                                               \
	}

DISPATCH(__kmpc_omp_task, (void *place, int32_t thread, void *task), place, thread, task)
DISPATCH(__kmpc_omp_task_with_deps,
	 (void *place, int32_t thread, void *task, int32_t n, void *depend, int32_t n_no_alias,
	  void *no_alias),
	 place, thread, task, n, depend, n_no_alias, no_alias)
