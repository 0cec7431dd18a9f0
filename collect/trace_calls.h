/*
 * Words of calls in the rings of traced processes (enum ctx_rt_call), as the experiment has them.
 *
 * The words of a ring are those of one thread, in order, so they need not wait for those of other rings.
 */
#ifndef CTX_COLLECT_TRACE_CALLS_H
#define CTX_COLLECT_TRACE_CALLS_H

#include "collect/call_clock.h"
#include "collect/trace_ring.h"
#include "formats/experiment/exp_callevents.h"

/* Calls are summed in the target (runtime/rt_calls_sums.h). */
struct ctx_trace_sums {
	uint64_t memory_bytes; /* of a process; 0: they are not */
	double share;	       /* a node with less of its parent's time is pruned where memory is short */
};

#define CTX_TRACE_SUMS_BYTES (UINT64_C(16) << 20) /* the usual */
#define CTX_TRACE_SUMS_SHARE 0.1

/* The letters that say so to the target, in `out`. */
const char *ctx_trace_sums_letters(const struct ctx_trace_sums *sums, char out[64]);

/* A second in ticks, as known by now; 0: the clock is not used. */
uint64_t ctx_trace_second_ticks(struct ctx_call_clock *clock);

#define CTX_TRACE_CALLS_MAX (2 * CTX_TRACE_CHUNK_WORDS)

struct ctx_trace_calls_lost { /* where words found no room */
	uint64_t words, intervals;
	uint64_t first_ns, last_ns; /* of all of them: the begin of the first, the end of the last */
};

/* Sums of calls that a thread had not written when it was killed, or when the recording ended. */
struct ctx_trace_calls_unwritten {
	uint64_t threads;
	uint64_t first_ns; /* from there on */
};

/* Adds what a slot has at the end of its process, or of the recording. Impossible numbers are left out. */
void ctx_trace_calls_add_unwritten(const struct ctx_rt_slot *slot,
				   struct ctx_trace_calls_unwritten *unwritten);

/* Events that were read. */
struct ctx_trace_calls {
	struct ctx_exp_call items[CTX_TRACE_CALLS_MAX];
	size_t n;
	uint32_t depth; /* open calls before the first one */
};

/*
 * Reads a CTX_RT_CALLS: where open calls are no more, an event says so; where words are missing, that takes the place of a call
 * (CTX_EXP_CALLS_LOST). False: it makes no sense.
 */
bool ctx_trace_calls_sync(const struct ctx_trace_record *record, struct ctx_trace_call_state *state,
			  struct ctx_call_clock *clock, struct ctx_trace_calls *ret);

/* As for a record: the ring has no more words of its thread, and from these ticks on so many are missing. */
void ctx_trace_calls_end_lost(uint64_t lost, uint64_t lost_from, struct ctx_trace_call_state *state,
			      struct ctx_call_clock *clock, struct ctx_trace_calls *ret);

/* The same for sums, which are missing from a time on. */
void ctx_trace_calls_end_unwritten(uint64_t from_ns, struct ctx_trace_call_state *state,
				   struct ctx_trace_calls *ret);

/* What a CTX_RT_CALLS says to be lost. */
void ctx_trace_calls_add_lost(const struct ctx_trace_record *record, struct ctx_call_clock *clock,
			      struct ctx_trace_calls_lost *lost);

/* Reads words, at most CTX_TRACE_CHUNK_WORDS. What makes no sense is passed over; returns how many those are. */
size_t ctx_trace_calls_read(const uint64_t *words, size_t n, struct ctx_trace_call_state *state,
			    struct ctx_call_clock *clock, struct ctx_trace_calls *ret);

#endif
