/*
 * One ended wait: the waiter with stack and duration, the waker with stack.
 */
#ifndef CTX_MODEL_WAKEUP_H
#define CTX_MODEL_WAKEUP_H

#include <stdint.h>

struct ctx_wakeup {
	uint64_t time_ns;   /* when the wait ended: it began at time_ns - wait_ns */
	uint64_t wait_ns;   /* in `state` */
	uint64_t delay_ns;  /* from then until the thread ran; 0 also when the recording ended before */
	uint32_t thread;    /* that waited */
	uint32_t state;	    /* enum ctx_thread_state of the wait */
	uint32_t raw_stack; /* where it waited */
	uint32_t stack;	    /* the same as CCT node */
	uint32_t waker;	    /* thread id; CTX_NONE: not a thread of the recording */
	uint32_t
		external_waker; /* index in profile->external wakers, when waker is CTX_NONE: an interrupt, another process; CTX_NONE: unknown */
	uint32_t waker_raw_stack; /* stack of the waker; 0 unknown */
	uint32_t waker_stack;
};

#endif
