/*
 * One sample: time, thread, call stack, and the weight of a metric.
 */
#ifndef CTX_MODEL_SAMPLE_H
#define CTX_MODEL_SAMPLE_H

#include "model/interval.h"

#include <stdint.h>

struct ctx_sample {
	uint64_t time_ns;   /* from the start of the experiment */
	uint64_t weight;    /* in the metric's unit; 1 for counts */
	uint32_t stack;	    /* CCT node */
	uint32_t raw_stack; /* node of the raw stacks; 0 if only `stack` is known */
	uint32_t thread;    /* thread id, as in struct ctx_profile */
	int32_t cpu;	    /* -1: unknown */
	/*
	 * Depth of the deepest CCT node that this sample shares with the previous sample of the
	 * same thread (at most depth of `stack`). The frames below it were entered since then:
	 * calls are counted this way (a lower bound of the real number of calls).
	 */
	uint32_t kept_depth;
	uint32_t metric; /* metric id */
	/* So many more calls than one of what was entered: of sums of calls (struct ctx_source_info, call_sums). */
	uint32_t more_calls;
	/*
	 * The node of that depth, if known; only the depth is stored. 0 with a depth: not looked up
	 * yet.
	 */
	uint32_t kept_stack;
};

/* For samples that are spans of time (struct ctx_metric_info): the begin. */
static inline uint64_t ctx_sample_begin(const struct ctx_sample *sample)
{
	return sample->weight <= sample->time_ns ? sample->time_ns + 1 - sample->weight : 0;
}

/* Cuts a span to the window. False: it is outside, and unchanged. */
static inline bool ctx_sample_clip(struct ctx_sample *sample, struct ctx_interval window)
{
	uint64_t begin_ns = ctx_sample_begin(sample), last_ns = sample->time_ns;

	if (ctx_interval_is_empty(window) || begin_ns > last_ns || begin_ns >= window.end_ns ||
	    last_ns < window.begin_ns)
		return false;
	begin_ns = begin_ns > window.begin_ns ? begin_ns : window.begin_ns;
	last_ns = last_ns < window.end_ns ? last_ns : window.end_ns - 1;
	sample->time_ns = last_ns;
	sample->weight = last_ns + 1 - begin_ns;
	return true;
}

#endif
