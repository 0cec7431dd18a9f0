/*
 * Scheduler model: turns a source's observations of threads (switches, wake-ups, faults, system
 * calls: each once, twice or never) into the changes that states.c divides their lives by.
 *
 *	          left, has left             woken
 *	on a CPU ----------------> off it ---------> woken
 *	    ^---------- switched in -----------------'
 *
 * - A switch is seen up to twice: by a sample before it that may have the reason, and by a record after it that has whether the thread was preempted. The second one adds what the first lacked, and is not a change otherwise.
 * - A thread that is about to wait can be woken before it has left its CPU. If it runs again within a millisecond, that wake-up ended its wait.
 * - A page fault is seen before its wait or after it. Its kind is a change after the wait.
 *
 * Threads are numbers, one for each life of a tid. Source: requirement E8.
 */
#ifndef CTX_INGEST_SCHED_MODEL_H
#define CTX_INGEST_SCHED_MODEL_H

#include "ingest/states.h"

struct ctx_sched_thread; /* last observation of a thread */

struct ctx_sched_model {		  /* all zero is valid: no observations */
	struct ctx_sched_thread *threads; /* by number; owned */
	size_t n, cap;
};

void ctx_sched_model_deinit(struct ctx_sched_model *model);

/*
 * Adds a thread that starts during the recording: on a CPU until the first observation. Fails
 * with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_sched_model_start(struct ctx_sched_model *model, uint32_t thread,
						     struct ctx_err *err);

#define CTX_SCHED_CHANGES_MAX 3u

struct ctx_sched_changes {
	struct ctx_thread_change items[CTX_SCHED_CHANGES_MAX]; /* none of them of a kind CTX_SEEN_* */
	unsigned n;
};

/*
 * Turns an observation into changes. Calls are in order of time, with thread numbers that may be
 * new. O(1). Fails with CTX_E_NOMEM, then nothing has changed.
 */
CTX_MUST_CHECK enum ctx_status ctx_sched_model_take(struct ctx_sched_model *model,
						    const struct ctx_thread_change *seen,
						    struct ctx_sched_changes *ret, struct ctx_err *err);

/* A thread acts, and so is on a CPU. As above. */
CTX_MUST_CHECK enum ctx_status ctx_sched_model_acts(struct ctx_sched_model *model, uint32_t thread,
						    uint64_t time_ns, struct ctx_sched_changes *ret,
						    struct ctx_err *err);

#endif
