/*
 * The tool that LLVM's runtime, and others with OMPT (OpenMP 5.0, section 4), find by the name ompt_start_tool. What is declared here is
 * that interface: numbers and parameters are the specification's.
 */
#include "runtime/rt_omp.h"

#include "runtime/rt_real.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT CTX_RT_OMP_EXPORT

union data { /* of a region or task, which the runtime keeps for the tool */
	uint64_t value;
	void *pointer;
};

struct frame;

enum callback {
	ON_PARALLEL_BEGIN = 3,
	ON_PARALLEL_END = 4,
	ON_TASK_CREATE = 5,
	ON_TASK_SCHEDULE = 6,
	ON_IMPLICIT_TASK = 7,
	ON_SYNC_REGION_WAIT = 16,
	ON_WORK = 20,
	ON_MUTEX_RELEASED = 17,
	ON_MUTEX_ACQUIRE = 26,
	ON_MUTEX_ACQUIRED = 27,
	ON_NEST_LOCK = 28,
	ON_REDUCTION = 31,
};

enum endpoint { SCOPE_BEGIN = 1, SCOPE_END = 2 };

enum sync_region {
	SYNC_BARRIER = 1,
	SYNC_BARRIER_IMPLICIT = 2,
	SYNC_BARRIER_EXPLICIT = 3,
	SYNC_BARRIER_IMPLEMENTATION = 4,
	SYNC_TASKWAIT = 5,
	SYNC_TASKGROUP = 6,
	SYNC_REDUCTION = 7,
};

enum work {
	WORK_LOOP = 1,
	WORK_SECTIONS,
	WORK_SINGLE_EXECUTOR,
	WORK_SINGLE_OTHER,
	WORK_WORKSHARE,
	WORK_DISTRIBUTE,
	WORK_TASKLOOP, /* its tasks are reported */
	WORK_SCOPE,
	WORK_LOOP_STATIC = 10,
	WORK_LOOP_DYNAMIC,
	WORK_LOOP_GUIDED,
	WORK_LOOP_OTHER,
};

enum mutex {
	MUTEX_LOCK = 1,
	MUTEX_TEST_LOCK,
	MUTEX_NEST_LOCK,
	MUTEX_TEST_NEST_LOCK,
	MUTEX_CRITICAL,
	MUTEX_ATOMIC,
	MUTEX_ORDERED
};

enum {
	TASK_INITIAL = 1,
	TASK_EXPLICIT = 4,
	TASK_COMPLETE = 1,
	TASK_CANCELLED = 3,
};

typedef void any_function(void);
typedef any_function *lookup_function(const char *name);
typedef int set_callback_function(int which, any_function *callback);

struct start_tool_result {
	int (*initialize)(lookup_function *lookup, int device, union data *tool);
	void (*finalize)(union data *tool);
	union data tool;
};

__thread const void *ctx_rt_omp_body CTX_RT_TLS;
__thread bool ctx_rt_omp_in_barrier CTX_RT_TLS;

/* Regions */

static void on_parallel_begin(union data *task, const struct frame *frame, union data *region,
			      unsigned threads, int flags, const void *place)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	const void *body = ctx_rt_omp_body;

	(void)task;
	(void)frame;
	(void)threads;
	(void)flags;
	(void)place;
	ctx_rt_omp_body = NULL;
	region->value = ctx_rt_omp_number();
	if (body != NULL)
		ctx_rt_omp_note_body(CTX_OMP_REGION_BEGIN, (uint32_t)region->value, body, &caller);
	else
		ctx_rt_omp_note_at(CTX_OMP_REGION_BEGIN, region->value, &caller);
}

static void on_parallel_end(union data *region, union data *task, int flags, const void *place)
{
	(void)task;
	(void)flags;
	(void)place;
	ctx_rt_omp_note(CTX_OMP_REGION_END, region->value);
}

static void on_implicit_task(enum endpoint endpoint, union data *region, union data *task, unsigned threads,
			     unsigned index, int flags)
{
	(void)threads;
	/* That of a program's first thread is in no region; those of a league's threads are in that of the teams construct. */
	if ((flags & TASK_INITIAL) != 0 && region != NULL && region->value == 0)
		return;
	if (endpoint == SCOPE_BEGIN && region != NULL) {
		task->value = region->value;
		if (index == 0)
			ctx_rt_omp_note(CTX_OMP_JOIN, region->value);
		else
			ctx_rt_omp_note_after(CTX_OMP_JOIN, region->value);
	} else if (endpoint == SCOPE_END && task->value != 0) {
		ctx_rt_omp_note(CTX_OMP_PART, task->value);
		task->value = 0;
	}
}

static enum ctx_omp_state state_of(enum sync_region kind)
{
	switch (kind) {
	case SYNC_BARRIER_EXPLICIT:
		return CTX_OMP_EXPLICIT_BARRIER;
	/* So it calls those of programs of gcc, whatever they are. */
	case SYNC_BARRIER_IMPLEMENTATION:
		return ctx_rt_omp_in_barrier ? CTX_OMP_EXPLICIT_BARRIER : CTX_OMP_IMPLICIT_BARRIER;
	case SYNC_TASKWAIT:
	case SYNC_TASKGROUP:
		return CTX_OMP_TASKWAIT;
	case SYNC_REDUCTION:
		return CTX_OMP_REDUCTION;
	default: /* also those of later versions */
		return CTX_OMP_IMPLICIT_BARRIER;
	}
}

static void on_sync_region(enum sync_region kind, enum endpoint endpoint, union data *region,
			   union data *task, const void *place)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	enum ctx_omp_state state = state_of(kind);

	(void)region;
	(void)task;
	(void)place;
	if (endpoint != SCOPE_BEGIN)
		ctx_rt_omp_note(CTX_OMP_LEAVE, state);
	else if (state == CTX_OMP_IMPLICIT_BARRIER)
		ctx_rt_omp_note(CTX_OMP_ENTER, state);
	else
		ctx_rt_omp_note_at(CTX_OMP_ENTER, state, &caller);
}

/* Work-sharing constructs */

/* Loops of later versions have their schedule in the kind. */
static uint64_t share_of(enum work kind)
{
	static const uint8_t shares[] = {[WORK_LOOP] = CTX_OMP_SHARE_LOOP,
					 [WORK_SECTIONS] = CTX_OMP_SHARE_SECTIONS,
					 [WORK_SINGLE_EXECUTOR] = CTX_OMP_SHARE_SINGLE,
					 [WORK_SINGLE_OTHER] = CTX_OMP_SHARE_SINGLE,
					 [WORK_WORKSHARE] = CTX_OMP_SHARE_WORKSHARE,
					 [WORK_DISTRIBUTE] = CTX_OMP_SHARE_DISTRIBUTE,
					 [WORK_LOOP_STATIC] = CTX_OMP_SHARE_LOOP,
					 [WORK_LOOP_DYNAMIC] = CTX_OMP_SHARE_LOOP,
					 [WORK_LOOP_GUIDED] = CTX_OMP_SHARE_LOOP,
					 [WORK_LOOP_OTHER] = CTX_OMP_SHARE_LOOP};
	static const uint8_t schedules[sizeof(shares)] = {[WORK_LOOP_STATIC] = CTX_OMP_SCHEDULE_STATIC,
							  [WORK_LOOP_DYNAMIC] = CTX_OMP_SCHEDULE_DYNAMIC,
							  [WORK_LOOP_GUIDED] = CTX_OMP_SCHEDULE_GUIDED};

	if ((unsigned)kind >= sizeof(shares) || shares[kind] == 0)
		return 0;
	if (shares[kind] == CTX_OMP_SHARE_LOOP && ctx_rt_omp_schedule != 0)
		return ctx_rt_omp_schedule;
	return ctx_omp_share_pack((enum ctx_omp_share)shares[kind], (enum ctx_omp_schedule)schedules[kind],
				  0);
}

static void on_work(enum work kind, enum endpoint endpoint, union data *region, union data *task,
		    uint64_t count, const void *place)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	uint64_t share = share_of(kind);

	(void)region;
	(void)task;
	(void)count;
	(void)place;
	if (share == 0)
		return;
	if (endpoint == SCOPE_BEGIN)
		ctx_rt_omp_note_at(CTX_OMP_SHARE_BEGIN, share, &caller);
	else
		ctx_rt_omp_note(CTX_OMP_SHARE_END, share);
}

/* Locks and sections */

static __thread uint32_t waits CTX_RT_TLS; /* what this thread waits for, as state; 0: it need not */

static void on_mutex_acquire(enum mutex kind, unsigned hint, unsigned implementation, uint64_t object,
			     const void *place)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();
	static const uint8_t states[] = {[MUTEX_LOCK] = CTX_OMP_LOCK_WAIT,
					 [MUTEX_NEST_LOCK] = CTX_OMP_LOCK_WAIT,
					 [MUTEX_CRITICAL] = CTX_OMP_CRITICAL_WAIT,
					 [MUTEX_ATOMIC] = CTX_OMP_ATOMIC_WAIT,
					 [MUTEX_ORDERED] = CTX_OMP_ORDERED_WAIT};

	(void)hint;
	(void)implementation;
	(void)place;
	waits = 0;
	if ((unsigned)kind >= sizeof(states) || states[kind] == 0)
		return;
	if (kind != MUTEX_ORDERED && ctx_rt_omp_want(object))
		return;
	waits = states[kind];
	ctx_rt_omp_note_at(CTX_OMP_ENTER, waits, &caller);
}

static void got(void)
{
	if (waits != 0)
		ctx_rt_omp_note(CTX_OMP_LEAVE, waits);
	waits = 0;
}

static void on_mutex_acquired(enum mutex kind, uint64_t object, const void *place)
{
	(void)place;
	if (kind == MUTEX_TEST_LOCK || kind == MUTEX_TEST_NEST_LOCK)
		(void)ctx_rt_omp_want(object);
	else
		got();
}

static void on_mutex_released(enum mutex kind, uint64_t object, const void *place)
{
	(void)place;
	if (kind != MUTEX_ORDERED)
		ctx_rt_omp_give_up(object);
}

/* The thread had the lock already: it does not want it once more. */
static void on_nest_lock(enum endpoint endpoint, uint64_t object, const void *place)
{
	(void)place;
	if (endpoint != SCOPE_BEGIN)
		return;
	got();
	ctx_rt_omp_give_up(object);
}

/* Tasks */

#define IS_BEGUN (UINT64_C(1) << 32)

static void on_task_create(union data *creator, const struct frame *frame, union data *task, int flags,
			   int has_dependences, const void *place)
{
	const struct ctx_rt_registers caller = CTX_RT_CALLER();

	(void)creator;
	(void)frame;
	(void)has_dependences;
	(void)place;
	if ((flags & TASK_EXPLICIT) == 0 || task == NULL)
		return;
	task->value = ctx_rt_omp_number() | IS_BEGUN << 1;
	ctx_rt_omp_note_at(CTX_OMP_TASK_CREATE, (uint32_t)task->value, &caller);
}

/* Whether the data is that of an explicit task: an implicit one has a region's number alone. */
static bool is_explicit(const union data *task)
{
	return task != NULL && (task->value & IS_BEGUN << 1) != 0;
}

static void on_task_schedule(union data *before, int status, union data *next)
{
	if (is_explicit(before) && (status == TASK_COMPLETE || status == TASK_CANCELLED)) {
		ctx_rt_omp_note(CTX_OMP_TASK_END, (uint32_t)before->value);
		before->value = 0;
	}
	if (!is_explicit(next) || (next->value & IS_BEGUN) != 0)
		return;
	next->value |= IS_BEGUN;
	ctx_rt_omp_note_after(CTX_OMP_TASK_BEGIN, (uint32_t)next->value);
}

_Atomic bool ctx_rt_omp_is_tool;

static int initialize(lookup_function *lookup, int device, union data *tool)
{
	static const struct {
		int which;
		any_function *callback;
	} callbacks[] = {
		{ON_PARALLEL_BEGIN, (any_function *)on_parallel_begin},
		{ON_PARALLEL_END, (any_function *)on_parallel_end},
		{ON_TASK_CREATE, (any_function *)on_task_create},
		{ON_TASK_SCHEDULE, (any_function *)on_task_schedule},
		{ON_IMPLICIT_TASK, (any_function *)on_implicit_task},
		{ON_WORK, (any_function *)on_work},
		{ON_SYNC_REGION_WAIT, (any_function *)on_sync_region},
		{ON_MUTEX_RELEASED, (any_function *)on_mutex_released},
		{ON_MUTEX_ACQUIRE, (any_function *)on_mutex_acquire},
		{ON_MUTEX_ACQUIRED, (any_function *)on_mutex_acquired},
		{ON_NEST_LOCK, (any_function *)on_nest_lock},
		{ON_REDUCTION, (any_function *)on_sync_region},
	};
	set_callback_function *set = (set_callback_function *)lookup("ompt_set_callback");

	(void)device;
	(void)tool;
	if (set == NULL)
		return 0;
	for (size_t i = 0; i < sizeof(callbacks) / sizeof(*callbacks); i++)
		(void)set(callbacks[i].which, callbacks[i].callback);
	atomic_store_explicit(&ctx_rt_omp_is_tool, true, memory_order_relaxed);
	return 1;
}

static void finalize(union data *tool)
{
	(void)tool;
}

typedef struct start_tool_result *start_tool(unsigned version, const char *runtime);

start_tool ompt_start_tool;

/* That of a library that is loaded behind this one; NULL: there is none, or it does not want to. */
static struct start_tool_result *start_next(unsigned version, const char *runtime)
{
	start_tool *other = NULL;

	*(void **)&other = ctx_rt_find("ompt_start_tool", NULL);
	return other != NULL ? other(version, runtime) : NULL;
}

static struct start_tool_result *start_library(const char *name, unsigned version, const char *runtime)
{
	void *library = dlopen(name, RTLD_LAZY);
	start_tool *other = NULL;
	struct start_tool_result *result = NULL;

	if (library == NULL)
		return NULL;
	*(void **)&other = dlsym(library, "ompt_start_tool");
	if (other != NULL && other != ompt_start_tool)
		result = other(version, runtime);
	if (result == NULL)
		dlclose(library);
	return result;
}

/* As the runtime does with the list where nobody else has answered; names that no file can have are left out. */
static struct start_tool_result *start_listed(unsigned version, const char *runtime)
{
	const char *names = getenv("OMP_TOOL_LIBRARIES");
	struct start_tool_result *result = NULL;
	char name[PATH_MAX];

	while (names != NULL && *names != '\0' && result == NULL) {
		size_t n = strcspn(names, ":");

		if (n != 0 && n < sizeof(name)) {
			memcpy(name, names, n);
			name[n] = '\0';
			result = start_library(name, version, runtime);
		}
		names += n + (names[n] == ':');
	}
	return result;
}

/* A tool of the program's own; NULL: it has none that starts. Of those that are listed only where `is_listed`. */
static struct start_tool_result *start_other(unsigned version, const char *runtime, bool is_listed)
{
	struct start_tool_result *result;
	int error = errno;

	ctx_rt_mute();
	result = start_next(version, runtime);
	if (result == NULL && is_listed)
		result = start_listed(version, runtime);
	ctx_rt_unmute();
	errno = error;
	return result;
}

EXPORT struct start_tool_result *ompt_start_tool(unsigned version, const char *runtime)
{
	static struct start_tool_result result = {.initialize = initialize, .finalize = finalize};
	bool is_wanted = (ctx_rt_begin() & CTX_RT_WHAT_OMP) != 0;
	struct start_tool_result *other = NULL;

	if (!is_wanted || ctx_rt_settings.gives_way)
		other = start_other(version, runtime, is_wanted);
	if (!is_wanted)
		return other;
	if (other != NULL)
		ctx_rt_note_omp_tool(CTX_RT_OMP_TOOL_KEPT);
	else if (!ctx_rt_settings.gives_way && getenv("OMP_TOOL_LIBRARIES") != NULL)
		ctx_rt_note_omp_tool(CTX_RT_OMP_TOOL_REPLACED);
	return other != NULL ? other : &result;
}
