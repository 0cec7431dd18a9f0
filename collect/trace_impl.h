/*
 * What is traced, for its parts:
 *
 *	trace.c			one tracing: the library, the socket, the environment, running processes
 *	trace_take.c		when and in which order rings are read: rounds, ends of threads and images
 *	trace_records.c		from a record of a ring to the writer
 */
#ifndef CTX_COLLECT_TRACE_IMPL_H
#define CTX_COLLECT_TRACE_IMPL_H

#include "base/clock.h"
#include "collect/attach.h"
#include "collect/call_clock.h"
#include "collect/proctree.h"
#include "collect/trace_calls.h"
#include "collect/trace_counts.h"
#include "collect/trace_drain.h"
#include "collect/trace_io.h"
#include "collect/trace_library.h"
#include "collect/trace_listener.h"
#include "collect/trace_marks.h"
#include "collect/trace_omp.h"
#include "collect/trace_unfit.h"
#include "collect/trace_uring.h"
#include "formats/experiment/exp_writer.h"

#include <limits.h>
#include <time.h>

#define CTX_TRACE_SETTING_MAX 1152u /* of CTX_RT_VARIABLE */

/* A ring that is read now. */
struct ctx_trace_turn {
	uint64_t time_ns; /* of its next record; 0: not known yet */
	struct ctx_trace_segment *segment;
	uint32_t slot;
};

struct ctx_trace {
	struct ctx_trace_library library;
	char letters[CTX_TRACE_SETTING_MAX - 32]; /* behind the name of the socket: what is recorded */
	char *old_preload;			  /* owned; NULL: there was none */
	char libomp[PATH_MAX];			  /* the library, behind the runtime; "": none */
	struct ctx_trace_segments segments;
	struct ctx_trace_listener *listener;
	struct ctx_trace_uring *uring; /* NULL: not watched */
	char uring_text[480];
	struct ctx_trace_drain *drain;	/* of the segments */
	struct ctx_trace_reader reader; /* its context is of the ring that is read */
	struct ctx_trace_turn *turns;	/* owned; a heap by time */
	size_t n_turns, turns_cap;
	struct ctx_attach **attached; /* owned, as what they are */
	size_t n_attached, attached_cap;
	struct ctx_exp_writer *writer;
	struct ctx_proctree *tree;
	uint64_t now_ns;  /* not after this moment */
	bool is_sparse;	  /* as ctx_trace_is_sparse says */
	bool has_backlog; /* the last round ended early */
	struct ctx_trace_io_name io_name;
	const struct ctx_entry_counters *entries; /* borrowed; NULL: none */
	struct ctx_trace_marks marks;
	struct ctx_trace_omp omp; /* scratch */
	struct ctx_trace_counts counts;
	struct ctx_trace_unfit unfit;
	bool has_ticks; /* the clock is used: calls or OpenMP are recorded */
	struct ctx_call_clock clock;
	struct ctx_trace_calls calls; /* scratch */
};

/*
 * Is a time in the future? What was read is from before this moment, so this is no time that the runtime
 * writes.
 */
static inline bool ctx_trace_is_impossible(struct ctx_trace *trace, uint64_t time_ns)
{
	if (time_ns > trace->now_ns)
		trace->now_ns = ctx_clock_ns(CLOCK_MONOTONIC);
	return time_ns > trace->now_ns;
}

#endif
