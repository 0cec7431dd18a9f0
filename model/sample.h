/*
 * One sample: at this time this thread had this call stack, and it stands for this much of a metric.
 */
#ifndef CTX_MODEL_SAMPLE_H
#define CTX_MODEL_SAMPLE_H

#include <stdint.h>

struct ctx_sample {
	uint64_t time_ns;   /* from the start of the experiment */
	uint64_t weight;    /* in the metric's unit; 1 where only counts matter */
	uint32_t stack;	    /* CCT node */
	uint32_t raw_stack; /* node of the raw stacks; 0 where only `stack` is known */
	uint32_t thread;    /* thread id, as in struct ctx_profile */
	int32_t cpu;	    /* -1: unknown */
	/*
	 * Depth of the deepest CCT node that this sample shares with the previous sample of the same thread
	 * (at most depth of `stack`). The frames below it were entered since then: that is how calls are
	 * counted from samples (a lower bound of the real number of calls).
	 */
	uint32_t kept_depth;
	uint32_t metric; /* metric id */
};

#endif
