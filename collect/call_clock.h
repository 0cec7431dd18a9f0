/*
 * The clock of calls: ticks of the processor, which a program reads in some nanoseconds, as times of CLOCK_MONOTONIC.
 *
 *	both clocks, read together now and then --> pairs --> between two of them time goes evenly
 *
 * Only where the processor says that its ticks are of the same length always, and the kernel keeps time by them itself;
 * else ticks are times.
 */
#ifndef CTX_COLLECT_CALL_CLOCK_H
#define CTX_COLLECT_CALL_CLOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_CALL_CLOCK_PAIRS 1024u
#define CTX_CALL_CLOCK_STEP_NS UINT64_C(5000000) /* between two pairs that are kept */

struct ctx_call_pair {
	uint64_t ticks, ns;
};

struct ctx_call_clock {
	bool has_tsc;
	struct ctx_call_pair pairs
		[CTX_CALL_CLOCK_PAIRS]; /* in order; the last one moves until it is a step behind the one before */
	size_t n;
	size_t at; /* that a time was found behind last */
};

/* Reads both clocks. Takes a millisecond, in which it finds out how long a tick is. */
void ctx_call_clock_init(struct ctx_call_clock *clock);

/* Reads both again: before times of what was done up to now are asked for. */
void ctx_call_clock_look(struct ctx_call_clock *clock);

/* The same with a pair that was read; not before the last one. For tests, too. */
void ctx_call_clock_add(struct ctx_call_clock *clock, struct ctx_call_pair pair);

/* The time of ticks. Those behind the last pair, or before the first, are as if time went on as there. */
uint64_t ctx_call_clock_ns(struct ctx_call_clock *clock, uint64_t ticks);

/* Of a duration, about. */
uint64_t ctx_call_clock_ticks(const struct ctx_call_clock *clock, uint64_t ns);

#endif
