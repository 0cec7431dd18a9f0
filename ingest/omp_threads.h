/*
 * OpenMP: events of threads (model/omp.h) -> what each did at any time, and what came of each region and task.
 *
 *	begin, join, enter, leave, ... --> stack of the thread --spans, each ending now---------> sink
 *	                                        `--regions and tasks that ended, as operations--> sink
 *
 *	master	serial |overhead| work            |barrier |o| serial
 *	worker	idle             | work  |barrier          | idle
 *	region	       begin    join     enter             end
 *
 * Work-sharing constructs are work of their region. The barrier at their end is theirs: it is entered before they
 * end, or is the next thing that the thread does.
 *
 * A thread's life, from its begin on, is divided into spans without gaps as soon as it has an event. Its stack
 * has the regions that it is in, the tasks that it runs, and what it waits for. Time in an inner region is work of the thread
 * in the outer one. A region's end ends the parts of all threads of its team, which need no event of leaving
 * the barrier.
 *
 * Events may be missing: what is left without having been entered is ignored, and a thread that joins another
 * team has left the one before. Times never decrease over all threads: an earlier one counts as now. At most CTX_OMP_DEPTH_MAX are
 * open in a thread; further ones are ignored.
 *
 * Memory: 56 bytes for what is open, 24 for a task that has not ended.
 */
#ifndef CTX_INGEST_OMP_THREADS_H
#define CTX_INGEST_OMP_THREADS_H

#include "base/err.h"
#include "model/omp.h"
#include "model/traced.h"

#include <stdint.h>

#define CTX_OMP_DEPTH_MAX 8192u

struct ctx_omp_span {
	uint64_t begin_ns, end_ns; /* not empty */
	uint32_t thread;
	uint32_t raw_stack;
	enum ctx_omp_state state;
};

struct ctx_omp_sink {
	void *context;
	/* Those of a thread in order of time, without gaps; of all threads in order of their ends. */
	enum ctx_status (*span)(void *context, const struct ctx_omp_span *span, struct ctx_err *err);
	/* In order of time. All but `stack` is set. */
	enum ctx_status (*operation)(void *context, const struct ctx_traced *operation, struct ctx_err *err);
	/* The number of a text for `file` of an operation: the schedule of a region's loops, "dynamic, 16". */
	enum ctx_status (*text)(void *context, const char *text, uint32_t *ret, struct ctx_err *err);
};

#define CTX_OMP_SCHEDULE_TEXT 32u

struct ctx_omp_options {
	struct ctx_omp_sink sink;
	uint64_t last_ns;	       /* of the run: later events are there, and what is open then ends */
	uint32_t serial_raw, idle_raw; /* raw stacks of time in no region */
};

/* An event, and what the ingest has made of its stack. */
struct ctx_omp_input {
	uint64_t time_ns;
	uint64_t born_ns; /* of the thread */
	uint32_t process, thread;
	enum ctx_omp_event event;
	uint32_t value;
	/*
	 * REGION_BEGIN: of the region; ENTER: of the wait; SHARE_BEGIN: of the construct; TASK_CREATE, TASK_DISPATCHED: of the task, where it was
	 * created; TASK_BEGIN: of the task without that.
	 */
	uint32_t raw_stack;
	uint32_t overhead_raw; /* REGION_BEGIN: of its overhead; TASK_DISPATCHED: of that */
	bool is_called; /* ENTER: a barrier by a call of its own, not at the end of a construct that has just ended */
	uint32_t skip;	     /* SHARE_BEGIN: frames of the thread that its stack has */
	uint32_t caller_raw; /* REGION_BEGIN: of the construct, without the region */
	uint32_t work;	     /* TASK_CREATE: any number, for ctx_omp_threads_task_work */
};

struct ctx_omp_threads;

/* CTX_E_NOMEM. All below fail with it, and as the sink does. */
CTX_MUST_CHECK enum ctx_status ctx_omp_threads_create(const struct ctx_omp_options *options,
						      struct ctx_omp_threads **ret, struct ctx_err *err);
void ctx_omp_threads_destroy(struct ctx_omp_threads *threads);

CTX_MUST_CHECK enum ctx_status ctx_omp_threads_event(struct ctx_omp_threads *threads,
						     const struct ctx_omp_input *input, struct ctx_err *err);

/* The raw stack of the innermost region that the thread is in; 0: none. */
uint32_t ctx_omp_threads_region(const struct ctx_omp_threads *threads, uint32_t number);

/* What hangs below it. */
enum ctx_omp_base_of {
	CTX_OMP_BASE_OF_WAIT,
	CTX_OMP_BASE_OF_BARRIER, /* at the end of a construct: if that has just ended, below it */
	CTX_OMP_BASE_OF_CREATED, /* regions and tasks: of the creation of the task that creates them nothing more is there */
	CTX_OMP_BASE_OF_OUTLINED, /* a function that a compiler has made */
};

/* A stack, and how many frames of the thread below the outlined function that it runs are on it. */
struct ctx_omp_base {
	uint32_t raw; /* 0: the thread is in no region */
	uint32_t skip;
	bool is_share; /* of a work-sharing construct */
};

/* That of the innermost region that the thread is in, or of the task or work-sharing construct there. */
struct ctx_omp_base ctx_omp_threads_base(const struct ctx_omp_threads *threads, uint32_t number,
					 enum ctx_omp_base_of of);

/* What a thread that has had an event does now. */
struct ctx_omp_doing {
	enum ctx_omp_state state;
	uint32_t graft; /* raw stack of the construct whose team it has joined as a worker; 0: none */
	struct ctx_omp_base base; /* that of waits */
};

/* False: it has had no event yet, or has ended. */
bool ctx_omp_threads_doing(const struct ctx_omp_threads *threads, uint32_t number, struct ctx_omp_doing *ret);

/* `work` of when the task was created; 0: unknown. */
uint32_t ctx_omp_threads_task_work(const struct ctx_omp_threads *threads, uint32_t process, uint32_t number);

/* The thread ends. */
CTX_MUST_CHECK enum ctx_status ctx_omp_threads_end(struct ctx_omp_threads *threads, uint32_t number,
						   uint64_t time_ns, struct ctx_err *err);

/* The recording ends. */
CTX_MUST_CHECK enum ctx_status ctx_omp_threads_finish(struct ctx_omp_threads *threads, struct ctx_err *err);

#endif
