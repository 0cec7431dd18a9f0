/*
 * Scheduler model: from what a source has seen of threads (switches, wake-ups, faults, system
 * calls: each once, twice or never) to the changes that states.c divides their lives by.
 *
 *	          left, has left             woken
 *	on a CPU ----------------> off it ---------> woken
 *	    ^---------- switched in -----------------'
 *
 * - A switch is seen up to twice: by a sample in front of it that may tell why, and by a record
 *   behind it that tells whether the thread could have gone on. The second one adds what the first
 *   did not know, and is no change otherwise.
 * - A thread that is about to wait can be woken before it has left its CPU. If it runs again within
 *   a millisecond of that, this is what ended its wait.
 * - A page fault is seen before its wait or after it. What it was for is a change behind the wait.
 *
 * Threads are numbers, one for each life of a tid. Source: requirement E8.
 */
#ifndef CTX_INGEST_SCHED_MODEL_H
#define CTX_INGEST_SCHED_MODEL_H

#include "ingest/states.h"

struct ctx_sched_thread; /* what was last seen of one */

struct ctx_sched_model {		  /* all zero is valid: nothing was seen of anybody */
	struct ctx_sched_thread *threads; /* by number; owned */
	size_t n, cap;
};

void ctx_sched_model_deinit(struct ctx_sched_model *model);

/*
 * A thread that begins while it is recorded: until something is seen of it, it is on a CPU. Fails
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
 * Makes changes of what was seen. Calls are in order of time, with thread numbers that may be new.
 * O(1). Fails with CTX_E_NOMEM, then nothing has changed.
 */
CTX_MUST_CHECK enum ctx_status ctx_sched_model_take(struct ctx_sched_model *model,
						    const struct ctx_thread_change *seen,
						    struct ctx_sched_changes *ret, struct ctx_err *err);

/* A thread does something, and so is on a CPU. As above. */
CTX_MUST_CHECK enum ctx_status ctx_sched_model_acts(struct ctx_sched_model *model, uint32_t thread,
						    uint64_t time_ns, struct ctx_sched_changes *ret,
						    struct ctx_err *err);

#endif
