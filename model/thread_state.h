/*
 * Thread states, and the metrics derived from them.
 *
 * The ten states are the microstates of the Solaris family. At any time a thread is in exactly one,
 * or in an eleventh where that is unknown: the time spent in each, summed over all, is the thread's
 * life. Each is a metric of its own (USER,
 * SLEEP, ...: weights in ns), and the metrics that users ask for ("User CPU", "Wait CPU", ...,
 * "Wall") are sums of them. Source: requirement E8.
 */
#ifndef CTX_MODEL_THREAD_STATE_H
#define CTX_MODEL_THREAD_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The numbers are in databases: only additions. */
enum ctx_thread_state {
	CTX_STATE_USER = 0,	/* on a CPU, in user mode */
	CTX_STATE_SYSTEM,	/* on a CPU, in the kernel on the thread's behalf: system calls */
	CTX_STATE_TRAP,		/* on a CPU, in the kernel because of an exception or an interrupt */
	CTX_STATE_TEXT_FAULT,	/* waits for a page of instructions */
	CTX_STATE_DATA_FAULT,	/* waits for a page of data */
	CTX_STATE_KERNEL_FAULT, /* waits for a page that the kernel touched on the thread's behalf */
	CTX_STATE_USER_LOCK,	/* waits for a lock, condition or semaphore of user space: in futex */
	CTX_STATE_SLEEP,	/* waits for anything else: time, input, another process */
	CTX_STATE_STOPPED,	/* stopped by a signal or a debugger */
	CTX_STATE_WAIT_CPU,	/* runnable, waits for a CPU */
	CTX_STATE_UNKNOWN,	/* not one of the ten: records of this time were lost */
	CTX_STATE_N,
};

/*
 * "USER", "SYSTEM", "TRAP", "TFAULT", "DFAULT", "KFAULT", "USER_LOCK", "SLEEP", "STOPPED",
 * "WAIT_CPU"; "UNKNOWN".
 */
const char *ctx_state_name(enum ctx_thread_state state);

/*
 * For display, in lower case: "user", "system", "trap", "text fault", ..., "waiting for a CPU",
 * "<Unknown>".
 */
const char *ctx_state_text(enum ctx_thread_state state);

/* One letter for text output: U S T x d k L z s W ?. */
char ctx_state_letter(enum ctx_thread_state state);

#define CTX_STATE_BIT(state) (1u << (state))

#define CTX_NO_CPU (-2) /* in place of a processor's number: off the processors */

/* All others have no processor. */
#define CTX_STATES_ON_CPU                                                                                    \
	(CTX_STATE_BIT(CTX_STATE_USER) | CTX_STATE_BIT(CTX_STATE_SYSTEM) | CTX_STATE_BIT(CTX_STATE_TRAP))

/* Waits that another thread can end: off CPU and not runnable. */
#define CTX_STATES_OF_WAITS                                                                                  \
	(CTX_STATE_BIT(CTX_STATE_TEXT_FAULT) | CTX_STATE_BIT(CTX_STATE_DATA_FAULT) |                         \
	 CTX_STATE_BIT(CTX_STATE_KERNEL_FAULT) | CTX_STATE_BIT(CTX_STATE_USER_LOCK) |                        \
	 CTX_STATE_BIT(CTX_STATE_SLEEP) | CTX_STATE_BIT(CTX_STATE_STOPPED))

/* A metric of the time in some of the states. */
struct ctx_state_metric {
	const char *name; /* "Wait CPU" */
	const char *word; /* for --metric and for keys: "wait-cpu" */
	unsigned states;  /* of CTX_STATE_BIT */
};

#define CTX_STATE_METRICS_N 8

/*
 * User CPU, System CPU, Wait CPU, User lock, Text page fault, Data page fault, Other wait: together
 * each of the ten states once; then Wall, all of them and the unknown time.
 */
extern const struct ctx_state_metric ctx_state_metrics[CTX_STATE_METRICS_N];

/*
 * Changes and observations of a thread by a source. From them, in order, and from its clock samples
 * the ingest computes the states. The numbers are in files: only additions.
 */
enum ctx_state_change {
	CTX_CHANGE_RUNS,       /* gets a CPU */
	CTX_CHANGE_PREEMPTED,  /* loses the CPU, still runnable */
	CTX_CHANGE_BLOCKED,    /* leaves the CPU to wait; the reason is in the stack */
	CTX_CHANGE_STOPPED,    /* leaves the CPU because it is stopped or traced */
	CTX_CHANGE_WOKEN,      /* its wait ended; the stack is the waker's */
	CTX_CHANGE_ENTERS,     /* on the CPU: begins a system call */
	CTX_CHANGE_RETURNS,    /* on the CPU: back in user mode */
	CTX_CHANGE_TEXT_FAULT, /* its last page fault with a wait was for instructions; no other change */
	/*
	 * Observations, which can mean one of the above or nothing: ingest/sched_model.h.
	 */
	CTX_SEEN_LEAVES,	/* leaves the CPU, reason unknown: perhaps in the stack */
	CTX_SEEN_OFF,		/* has left the CPU, not runnable */
	CTX_SEEN_OFF_PREEMPTED, /* has left the CPU, still runnable */
	CTX_SEEN_WAKING,	/* is woken, possibly before it has left the CPU; the stack is the waker's */
	CTX_SEEN_DEAD,		/* leaves the CPU for good */
	CTX_SEEN_FAULT,		/* a page fault begins, */
	CTX_SEEN_TEXT_FAULT,	/* for instructions */
	CTX_CHANGE_N,
};

/* Whether it has a waker and the waker's stack. */
static inline bool ctx_state_change_has_waker(enum ctx_state_change change)
{
	return change == CTX_CHANGE_WOKEN || change == CTX_SEEN_WAKING;
}

/* The reason of a wait, if a source knows it. */
enum ctx_wait {
	CTX_WAIT_UNKNOWN = 0, /* classified by the functions on its stack */
	CTX_WAIT_LOCK,	      /* a lock, condition or semaphore of user space */
	CTX_WAIT_TIME,	      /* it sleeps */
	CTX_WAIT_IO,	      /* input or output */
	CTX_WAIT_TEXT_PAGE,   /* a page of instructions */
	CTX_WAIT_DATA_PAGE,   /* a page of data */
	CTX_WAIT_OTHER,	      /* another thread or process, a message, ... */
	CTX_WAIT_N,
};

/* The state of such a wait. Not for CTX_WAIT_UNKNOWN. */
enum ctx_thread_state ctx_wait_state(enum ctx_wait wait);

/* A short word for log files and messages: "runs", "preempted", ... */
const char *ctx_state_change_text(enum ctx_state_change change);

#endif
