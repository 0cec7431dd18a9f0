/*
 * Thread states: computes spans of states from the changes of threads (they get a CPU, leave it,
 * are woken) and their clock samples.
 *
 *	change, sample --> thread's machine --spans, each ending now--> queue of 0.1 s --> sink
 *
 *	          blocked, stopped          woken                 runs
 *	on CPU ------------------> waits ---------> wants a CPU ---------> on CPU
 *	          preempted: straight to "wants a CPU"
 *
 * The spans of a thread cover its life from its start to its end, without gap and overlap. Missing
 * changes are inferred: a thread with a sample runs, one that is woken waited. Where records were
 * lost nothing is inferred: that time is unknown.
 *
 * Time on a CPU is divided by samples: each covers the time since the one before it in the same
 * turn on the CPU, the last also the rest of the turn; a turn without a sample has the state of the
 * thread's last sample, or before its first one of its process's. With system calls recorded, the
 * time in them is system, and samples divide the time outside of them: between two calls there is
 * also the entry and exit of the kernel, which recording calls makes longer.
 *
 * The queue exists because the kind of a page fault is known only after it. Source: requirements
 * E8, C9, C10.
 */
#ifndef CTX_INGEST_STATES_H
#define CTX_INGEST_STATES_H

#include "base/err.h"
#include "ingest/state_span.h"
#include "model/loss.h"
#include "model/thread_state.h"

#include <stdbool.h>
#include <stdint.h>

/* Classes of a stack by its functions, the kernel's first. Bits. */
enum ctx_stack_class {
	CTX_STACK_KERNEL = 1,	     /* the leaf is in the kernel */
	CTX_STACK_TRAP = 2,	     /* the kernel was entered by an exception or an interrupt */
	CTX_STACK_INTERRUPT = 4,     /* by an interrupt, which is unrelated to the code below it */
	CTX_STACK_FUTEX = 8,	     /* in futex */
	CTX_STACK_FAULT = 16,	     /* in a page fault of user mode */
	CTX_STACK_TEXT_FAULT = 32,   /* the same, and known to be for instructions */
	CTX_STACK_KERNEL_FAULT = 64, /* in a page fault of the kernel */
	CTX_STACK_STOP = 128,	     /* stopped by a signal or a tracer */
};

struct ctx_states;

/* Fails with CTX_E_NOMEM. The calls below fail as the sink does, too. */
CTX_MUST_CHECK enum ctx_status ctx_states_create(const struct ctx_state_sink *sink, struct ctx_states **ret,
						 struct ctx_err *err);
void ctx_states_destroy(struct ctx_states *states);

/*
 * The clock ticks every `ns` of a thread's time on a CPU, but is recorded only in user mode: where
 * its samples are missing the thread was in the kernel. A tick off that grid came late, because a
 * hypervisor took the CPU away: none is missing then. 0, the default: the clock is recorded in both
 * modes. Clocks slower than 8 Hz are taken for 0.
 */
void ctx_states_user_clock(struct ctx_states *states, uint64_t ns);

/*
 * The clock is recorded only in the kernel. With system calls recorded, its samples do not divide
 * the time outside of them: that is user mode.
 */
void ctx_states_kernel_clock(struct ctx_states *states);

/*
 * A life begins; `thread` was not used before. Times never decrease over all calls: late events
 * count as now, except ends.
 */
CTX_MUST_CHECK enum ctx_status ctx_states_start(struct ctx_states *states, uint32_t thread, uint32_t process,
						uint64_t time_ns, struct ctx_err *err);

/*
 * A life ends; ignored for an ended thread and one that never started. Later events of the thread
 * are ignored.
 */
CTX_MUST_CHECK enum ctx_status ctx_states_end(struct ctx_states *states, uint32_t thread, uint64_t time_ns,
					      struct ctx_err *err);

/* All lives of a process end. */
CTX_MUST_CHECK enum ctx_status ctx_states_end_process(struct ctx_states *states, uint32_t process,
						      uint64_t time_ns, struct ctx_err *err);

struct ctx_thread_change {
	uint64_t time_ns;
	uint32_t thread;
	enum ctx_state_change change;
	enum ctx_wait wait; /* BLOCKED: the reason; CTX_WAIT_UNKNOWN: given by `classes` */
	int32_t cpu;
	uint32_t raw_stack;  /* its own; 0 unknown; not for WOKEN */
	unsigned classes;    /* of this stack */
	uint32_t user_stack; /* its part in user mode; the same for all waits of one page fault; 0 unknown */
	uint32_t waker, external_waker, waker_raw_stack; /* WOKEN: as in struct ctx_wakeup */
};

CTX_MUST_CHECK enum ctx_status ctx_states_change(struct ctx_states *states,
						 const struct ctx_thread_change *change, struct ctx_err *err);

/* A clock sample: the thread runs on this CPU. */
struct ctx_thread_sample {
	uint64_t time_ns;
	uint32_t thread;
	int32_t cpu; /* -1 unknown */
	uint32_t raw_stack;
	unsigned classes; /* of this stack */
};

CTX_MUST_CHECK enum ctx_status ctx_states_sample(struct ctx_states *states,
						 const struct ctx_thread_sample *sample, struct ctx_err *err);

/*
 * Records were lost, a located loss, which is known at `time_ns`: best its begin, mostly its end.
 * Threads that its records can be of, all but those on another CPU, are CTX_STATE_UNKNOWN in it. One
 * that is then seen doing what it could have done without them goes on as before; else the time up
 * to then is unknown, too. One that is not seen again has ended in the loss, unless none of its
 * records can have been an end; not so one that was there before the recording and was never seen.
 */
CTX_MUST_CHECK enum ctx_status ctx_states_lost(struct ctx_states *states, const struct ctx_loss *loss,
					       uint64_t time_ns, struct ctx_err *err);

/*
 * A process is seen to have so many threads: where these are all that are known of it, none of them
 * has ended in a loss before.
 */
void ctx_states_live(struct ctx_states *states, uint32_t process, uint64_t n_threads);

/* After ctx_states_finish: where a life ended because of a loss, its end; UINT64_MAX: it did not. */
uint64_t ctx_states_known_until(const struct ctx_states *states, uint32_t thread);

/* The recording ends: all spans end and are emitted. */
CTX_MUST_CHECK enum ctx_status ctx_states_finish(struct ctx_states *states, uint64_t time_ns,
						 struct ctx_err *err);

#endif
