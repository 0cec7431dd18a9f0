/*
 * State changes: from what perf tells of switches and wake-ups, which is twice or never now and then, to one change of a
 * thread each time that it changes.
 *
 *	               left ------------> off the CPU --woken--> woken
 *	on a CPU <---- switched in ------------+-------------------+
 *
 * Threads are numbers, one for each life of a tid. Source: requirement E8.
 */
#ifndef CTX_COLLECT_STATE_CHANGES_H
#define CTX_COLLECT_STATE_CHANGES_H

#include "base/err.h"
#include "formats/perfevent/pe_tracepoint.h"
#include "model/thread_state.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Who woke a thread: CTX_NONE in both, nobody is known. */
struct ctx_waker {
	uint32_t thread;   /* number */
	uint32_t outsider; /* number of it, where it is no thread of the recording */
};

struct ctx_thread_seen; /* what was last seen of a thread */

struct ctx_state_changes { /* all zero is valid: nothing was seen of anybody */
	bool from_start; /* threads are seen from their beginning on: one of which nothing was seen yet is on a CPU */
	struct ctx_thread_seen *threads; /* by number; owned */
	size_t n, cap;
};

void ctx_state_changes_deinit(struct ctx_state_changes *changes);

/* What is to be written. */
struct ctx_state_step {
	enum ctx_state_change change; /* CTX_CHANGE_N: nothing */
	bool amends; /* in place of the thread's last one, which was a guess; a step of its own where that is too late */
	bool is_early;	/* of woken: to be kept, it may turn out to be what ends the thread's next wait */
	bool was_woken; /* RUNS: before it, at the same time, WOKEN by `waker`: the early one */
	struct ctx_waker waker;
};

/*
 * All calls: in order of time, with numbers that may be new. Fail with CTX_E_NOMEM, then nothing has changed.
 */

/* A thread leaves its CPU, and the scheduler says in which state. One that ends changes nothing. */
CTX_MUST_CHECK enum ctx_status ctx_state_changes_left(struct ctx_state_changes *changes, uint32_t thread,
						      enum ctx_pe_leaving leaving, struct ctx_state_step *ret,
						      struct ctx_err *err);

/* A thread leaves its CPU, why is not known before switched_out. */
CTX_MUST_CHECK enum ctx_status ctx_state_changes_leaves(struct ctx_state_changes *changes, uint32_t thread,
							struct ctx_state_step *ret, struct ctx_err *err);

/* A thread has left its CPU; `is_preempted`: it could have gone on. */
CTX_MUST_CHECK enum ctx_status ctx_state_changes_switched_out(struct ctx_state_changes *changes,
							      uint32_t thread, bool is_preempted,
							      struct ctx_state_step *ret,
							      struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status ctx_state_changes_switched_in(struct ctx_state_changes *changes,
							     uint32_t thread, uint64_t time_ns,
							     struct ctx_state_step *ret, struct ctx_err *err);

/* What a thread waited for has come. One that is about to leave its CPU, but has not been seen to, can be woken before it
 * is off: that is kept until it runs, for a millisecond. */
CTX_MUST_CHECK enum ctx_status ctx_state_changes_woken(struct ctx_state_changes *changes, uint32_t thread,
						       uint64_t time_ns, struct ctx_waker waker,
						       struct ctx_state_step *ret, struct ctx_err *err);

#endif
