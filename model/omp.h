/*
 * OpenMP: the events of threads of a team, and the states that follow from them.
 *
 *	region begin, join, enter, leave, ... of a thread --> one state at any time --> OMP Work, OMP Wait, OMP Serial, OMP Idle
 *
 * A *region* is one execution of a parallel construct, a *task* one of an explicit task. Each has a number, unique in its
 * process. A thread that has begun regions has its own part in each: it joins when its implicit task begins, and
 * is in the innermost one. What it enters inside (a barrier, a lock) it leaves in reverse order; a task that it
 * runs meanwhile is work. Source: OpenMP 5.0, section 4 (OMPT); requirement E13.
 */
#ifndef CTX_MODEL_OMP_H
#define CTX_MODEL_OMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers are in recordings: only additions. Each has a value: a number, or a state. */
enum ctx_omp_event {
	CTX_OMP_REGION_BEGIN =
		0, /* number; the stack is that of the construct. By the thread that becomes its master */
	CTX_OMP_REGION_END,   /* number; by the same thread: the team is gone, its other threads are idle */
	CTX_OMP_JOIN,	      /* number: the thread's implicit task of the region begins */
	CTX_OMP_PART,	      /* number: it has ended */
	CTX_OMP_ENTER,	      /* state: it begins to wait, or to reduce; the stack may be there */
	CTX_OMP_LEAVE,	      /* state */
	CTX_OMP_TASK_CREATE,  /* number; the stack is that of the construct */
	CTX_OMP_TASKS_CREATE, /* number, that all tasks of a taskloop share; the same */
	CTX_OMP_TASK_BEGIN,   /* number: the thread runs it from here on */
	CTX_OMP_TASK_END,     /* number */
	CTX_OMP_TASKS_END,    /* number: no more tasks of it begin */
	/* TASK_CREATE, TASKS_CREATE; from here on the runtime makes it ready, until the thread leaves CTX_OMP_TASK_DISPATCH. */
	CTX_OMP_TASK_DISPATCHED,
	CTX_OMP_TASKS_DISPATCHED,
	CTX_OMP_SHARE_BEGIN, /* ctx_omp_share_pack: a work-sharing construct of the thread; the stack is its own */
	CTX_OMP_SHARE_END, /* the same, or enum ctx_omp_share alone */
	CTX_OMP_SCHEDULED, /* ctx_omp_share_pack: of the region that the thread has begun last, which is a loop */
	CTX_OMP_EVENT_N,
};

/* The numbers are in recordings: only additions. */
enum ctx_omp_state {
	CTX_OMP_SERIAL = 0, /* in no region; it has never been a worker since its last region */
	CTX_OMP_WORK,
	CTX_OMP_OVERHEAD, /* between the begin of a region and its implicit task; between that and the region's end */
	CTX_OMP_IDLE, /* a worker in no region */
	CTX_OMP_REDUCTION,
	CTX_OMP_IMPLICIT_BARRIER,
	CTX_OMP_EXPLICIT_BARRIER,
	CTX_OMP_LOCK_WAIT,
	CTX_OMP_CRITICAL_WAIT,
	CTX_OMP_ORDERED_WAIT,
	CTX_OMP_ATOMIC_WAIT,
	CTX_OMP_TASKWAIT,
	CTX_OMP_TASK_DISPATCH, /* the runtime makes a task ready, or finds out that it has to run at once */
	CTX_OMP_STATE_N,
};

/* Constructs in a region whose work its threads share. The numbers are in recordings: only additions. */
enum ctx_omp_share {
	CTX_OMP_SHARE_LOOP = 1,
	CTX_OMP_SHARE_SECTIONS,
	CTX_OMP_SHARE_SINGLE,
	CTX_OMP_SHARE_WORKSHARE, /* Fortran's */
	CTX_OMP_SHARE_DISTRIBUTE,
	CTX_OMP_SHARE_N,
};

/* How a loop gives its iterations to threads. The numbers are in recordings: only additions. */
enum ctx_omp_schedule {
	CTX_OMP_SCHEDULE_NONE = 0, /* not known */
	CTX_OMP_SCHEDULE_STATIC,
	CTX_OMP_SCHEDULE_DYNAMIC,
	CTX_OMP_SCHEDULE_GUIDED,
	CTX_OMP_SCHEDULE_RUNTIME, /* OMP_SCHEDULE says it */
	CTX_OMP_SCHEDULE_AUTO,
	CTX_OMP_SCHEDULE_N,
};

#define CTX_OMP_SEVERAL "several"   /* in place of a schedule: the loops of a region have different ones */
#define CTX_OMP_CHUNK_MAX 0xffffffu /* larger ones count as this */

/* Both, and how many iterations a thread gets at once; 0 and less: not known. A value of 32 bits that is not 0. */
static inline uint32_t ctx_omp_share_pack(enum ctx_omp_share share, enum ctx_omp_schedule schedule,
					  int64_t chunk)
{
	uint32_t kept = chunk <= 0 ? 0 : chunk > CTX_OMP_CHUNK_MAX ? CTX_OMP_CHUNK_MAX : (uint32_t)chunk;

	return kept << 8 | (uint32_t)schedule << 4 | (uint32_t)share;
}

static inline enum ctx_omp_share ctx_omp_share_of(uint32_t packed)
{
	return (enum ctx_omp_share)(packed & 15);
}

static inline enum ctx_omp_schedule ctx_omp_schedule_of(uint32_t packed)
{
	return (enum ctx_omp_schedule)(packed >> 4 & 15);
}

static inline uint32_t ctx_omp_chunk_of(uint32_t packed)
{
	return packed >> 8;
}

/* Which metric has the time of a state: together they are the life of a thread. */
enum ctx_omp_metric {
	CTX_OMP_METRIC_WORK = 0, /* in regions: work and reductions */
	CTX_OMP_METRIC_WAIT,	 /* in regions: everything else */
	CTX_OMP_METRIC_SERIAL,
	CTX_OMP_METRIC_IDLE,
	CTX_OMP_METRIC_N,
};

static inline enum ctx_omp_metric ctx_omp_metric_of(enum ctx_omp_state state)
{
	return state == CTX_OMP_WORK || state == CTX_OMP_REDUCTION ? CTX_OMP_METRIC_WORK
	       : state == CTX_OMP_SERIAL			   ? CTX_OMP_METRIC_SERIAL
	       : state == CTX_OMP_IDLE				   ? CTX_OMP_METRIC_IDLE
								   : CTX_OMP_METRIC_WAIT;
}

/* What a thread may enter and leave. */
static inline bool ctx_omp_is_entered(uint64_t state)
{
	return state >= CTX_OMP_REDUCTION && state < CTX_OMP_STATE_N;
}

/* Whether a value fits the event. */
static inline bool ctx_omp_is_value(unsigned event, uint64_t value)
{
	if (event == CTX_OMP_ENTER || event == CTX_OMP_LEAVE)
		return ctx_omp_is_entered(value);
	if (event == CTX_OMP_SHARE_BEGIN || event == CTX_OMP_SHARE_END || event == CTX_OMP_SCHEDULED)
		return value <= UINT32_MAX && ctx_omp_share_of((uint32_t)value) != 0 &&
		       ctx_omp_share_of((uint32_t)value) < CTX_OMP_SHARE_N &&
		       ctx_omp_schedule_of((uint32_t)value) < CTX_OMP_SCHEDULE_N;
	return value <= UINT32_MAX && value != 0;
}

/* What the names of functions have that stand for constructs: "f -- OMP parallel region from line 12". */
#define CTX_OMP_NAME " -- OMP "
#define CTX_OMP_REGION_NAME " -- OMP parallel region"
#define CTX_OMP_TASK_NAME " -- OMP task"

/* " -- OMP loop", ...; "" for other numbers. */
const char *ctx_omp_share_name(enum ctx_omp_share share);

/* "static", "dynamic", ...; "" for what is not known. */
const char *ctx_omp_schedule_word(enum ctx_omp_schedule schedule);

/*
 * How much of such a name, or of any other, is that of the function in front of the construct, without its parameters: "a::f" of
 * "a::f(int) const -- OMP loop from line 14".
 */
size_t ctx_omp_function_length(const char *name);

bool ctx_omp_is_region(const char *function);
bool ctx_omp_is_task(const char *function);

/* The function that stands for the time of a state: "<OMP-idle>"; NULL for work, which has none. */
const char *ctx_omp_state_function(enum ctx_omp_state state);

#endif
