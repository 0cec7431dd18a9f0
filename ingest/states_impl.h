/*
 * State of the machine of thread states, for its parts:
 *
 *	states.c	changes and samples -> spans
 *	states_doubt.c	losses: what is in doubt, and what ends that
 */
#ifndef CTX_INGEST_STATES_IMPL_H
#define CTX_INGEST_STATES_IMPL_H

#include "ingest/span_queue.h"
#include "model/profile.h"
#include "model/thread_state.h"

#define NEVER UINT64_MAX

enum ctx_states_mode {
	NOT_STARTED,
	NOT_SEEN, /* started, without an observation yet */
	ON_CPU,
	WAITS,	   /* in thread.state */
	WANTS_CPU, /* preempted, woken, or new */
	ENDED,
};

/* What a thread did at a sample. */
struct ctx_states_doing {
	uint8_t state;
	bool known;
	uint32_t raw_stack;
};

/*
 * Records were lost while the thread was where they can have been its own. Up to `until_ns` it is
 * unknown what it did; what it does afterwards shows whether it went on as before.
 */
struct ctx_states_doubt {
	bool is_on;
	bool may_have_ended; /* its end can be among the lost records */
	int32_t cpu;	     /* of the loss; -1: of several, or unknown */
	uint64_t until_ns;
};

struct ctx_states_thread {
	uint8_t mode;		  /* enum ctx_states_mode */
	uint8_t state;		  /* WAITS: the state */
	bool sees_calls, in_call; /* system calls are recorded; it is in one */
	bool woken;		  /* `wakeup` is pending until the thread runs */
	struct ctx_states_doubt doubt;
	int32_t cpu;
	uint32_t process, sibling; /* the thread of the process that started before it; CTX_NONE */
	uint32_t raw_stack;	   /* off the CPU: the stack where it left */
	struct ctx_states_doing
		last; /* in its last sample; without any, the stack that it left the CPU with last */
	struct ctx_states_doing inside,
		outside;	     /* with system calls: in its last sample inside one, and outside */
	uint64_t start_ns, since_ns; /* `since`: all before it has been emitted */
	uint64_t wait_ns;	     /* begin of its last wait */
	uint64_t known_ns;	     /* ENDED in doubt: its end; else NEVER */
	uint32_t alive_at;	     /* its place in `alive` */
	uint64_t fault_ns;	     /* begin of the wait in its last page fault; NEVER */
	uint32_t fault_stack;	     /* user_stack of that fault */
	uint64_t silent_ns; /* user clock: time on this CPU since the last tick, in turns that are over */
	uint64_t late_ns;   /* user clock: delay of the last tick */
	bool ticked_here; /* user clock: there was a tick since it came to this CPU, so the next ones are known */
	struct ctx_wakeup wakeup;
};

struct ctx_states {
	struct ctx_states_thread *threads;
	size_t n_threads, threads_cap;
	uint32_t *newest; /* by process: the thread that started last, CTX_NONE; owned */
	size_t n_processes, processes_cap, last_cap;
	struct ctx_states_doing *last_of; /* by process: its last sample; owned */
	struct ctx_states_doing last;	  /* of any thread */
	struct ctx_span_queue queue;
	uint64_t latest_ns; /* of all calls */
	uint64_t now_ns;    /* time of the current call: the same, except for late ends of lives */
	uint64_t user_clock_ns;
	bool kernel_clock;
	uint32_t *alive; /* the threads that are alive; owned */
	size_t n_alive, alive_cap;
	uint32_t *on_cpu; /* by CPU: the thread that got it last, CTX_NONE; owned */
	size_t n_cpus, cpus_cap;
	struct ctx_states_doubt losses; /* is_on: one goes on, up to until_ns; the rest is as in threads */
};

#endif
