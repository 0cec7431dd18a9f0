/*
 * From the records in the rings of traced processes to the writer: whose they are, and what they say.
 */
#ifndef CTX_COLLECT_TRACE_RECORDS_H
#define CTX_COLLECT_TRACE_RECORDS_H

#include "collect/trace_impl.h"

/* A round of reading, and the ring that is read now. */
struct ctx_trace_taking {
	struct ctx_trace *trace;
	struct ctx_trace_segment *segment;
	uint32_t slot;
	uint64_t until_ns; /* threads that began by then are known */
	uint64_t limit_ns; /* later records stay */
	uint64_t stays_ns; /* the time of the one that stays; UINT64_MAX: none */
	bool is_early;	   /* it stays since its thread is not known yet */
	uint64_t left;	   /* records of this round */
};

struct ctx_trace_ending {
	uint32_t thread;  /* CTX_NONE: all */
	uint64_t time_ns; /* up to there */
};

/*
 * The threads of a segment end, and their rings have been read: where they had no room for calls any more, or had not written sums
 * of them, events say so. Fails as the writer does.
 */
CTX_MUST_CHECK enum ctx_status ctx_trace_end_calls(struct ctx_trace *trace, struct ctx_trace_segment *segment,
						   const struct ctx_trace_ending *ending,
						   struct ctx_err *err);

/*
 * For ctx_trace_reader, whose context is a ctx_trace_taking. A record that makes no sense is counted, as are those of a
 * thread that is not known. CTX_END: it is later than the limit, and stays. Fail as the writer does.
 */
ctx_trace_ring_fn ctx_trace_take_record;
ctx_trace_calls_fn ctx_trace_take_calls;

#endif
