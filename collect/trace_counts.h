/*
 * What is counted of tracing: what was recorded, and what was not and why.
 */
#ifndef CTX_COLLECT_TRACE_COUNTS_H
#define CTX_COLLECT_TRACE_COUNTS_H

#include "collect/trace_calls.h"
#include "collect/trace_segments.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_trace_call_counts {
	uint64_t events;	     /* begins and ends */
	uint64_t left_out;	     /* calls that were too short */
	uint64_t patched, unpatched; /* functions of which hooks were made calls, and could not be */
	bool is_late; /* processes ran already when they were attached: nothing is patched in these */
	struct ctx_trace_calls_lost lost;
	struct ctx_trace_calls_unwritten unwritten;
};

struct ctx_trace_counts {
	uint64_t start_ns; /* of the recording; set by who asks */
	uint64_t operations;
	uint64_t omp;				 /* of them: events of OpenMP */
	uint64_t omp_kept;			 /* processes whose own tool for OpenMP runs instead */
	uint64_t omp_replaced;			 /* those whose own were not started */
	uint64_t dropped;			 /* rings were full */
	uint64_t unplaced;			 /* operations of threads that have no ring */
	uint64_t ringless;			 /* processes that have none */
	uint64_t rings_bytes, rings_limit_bytes; /* what rings had at most at a time, and the bound */
	uint64_t interrupted;			 /* by signal handlers */
	uint64_t damaged;			 /* places where a ring made no sense */
	uint64_t nobodys;    /* segments that are used, of processes that are no part of the recording */
	uint64_t unmapped;   /* times that a process could not map its rings */
	uint64_t left;	     /* times that one did not wait for them any more */
	uint64_t unfit;	     /* programs that were executed without the runtime */
	uint64_t own;	     /* programs with an allocator of their own, which is not seen */
	uint64_t restricted; /* programs that forbade themselves system calls that the runtime needs */
	uint64_t apart;	     /* libraries that were opened with symbols of their own first */
	char apart_name[CTX_RT_APART_NAME_MAX]; /* of the first; what the target says */
	uint64_t processes;			/* images that were traced */
	uint64_t pauses;			/* by the program itself */
	struct ctx_trace_call_counts calls;
};

/* The sum; as much as there can be, if it is more. */
void ctx_trace_count(uint64_t *sum, uint64_t more);

/* Adds what the target counted in a segment, before that is removed. */
void ctx_trace_counts_add(struct ctx_trace_counts *counts, const struct ctx_trace_segment *segment);

#endif
