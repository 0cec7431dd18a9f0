/*
 * Several recordings as one source of events, on one time line.
 *
 *	source --numbers, frames, times of its own--> one of all --in order of time--> events
 *
 * Processes, threads and named functions are those of each recording, with new numbers: the same process
 * in two recordings is two processes, told apart by their lineages ("b.perf:_f1"). Metrics of the same
 * name, kind and unit are one. Properties come from all; one that differs bears the recording's name.
 * Threads of a recording without states have none, and time after which a recording has none ends those
 * of all.
 *
 * The kernel's addresses mean functions of the first recording's kernel. One of another host, or of
 * another boot, is one function "<kernel of b.perf>".
 */
#ifndef CTX_INGEST_MERGED_H
#define CTX_INGEST_MERGED_H

#include "model/event_source.h"

struct ctx_merged_input {
	struct ctx_event_source *source;
	const char *name;   /* as the user calls it; borrowed */
	int64_t offset_ns;  /* from the begin of the first recording to that of this one */
	bool has_offset;    /* the user says so; else ctx_merged_place finds it */
	const char *placed; /* how it was found: "CLOCK_MONOTONIC of vm", "the wall clock", "--offset" */
};

/*
 * Finds the offsets, so that the earliest is 0: as given, by clocks of one name on one host, else by the
 * wall clock. Recordings without times begin with the earliest. `placed` is a static string, or a
 * source's. CTX_E_ARG: a recording has no clock that one placed before it has, or lies 2^62 ns or more from another.
 */
CTX_MUST_CHECK enum ctx_status ctx_merged_place(struct ctx_merged_input *inputs, size_t n,
						struct ctx_err *err);

/*
 * Inputs that are placed. The sources are owned by the result, and closed with it; by the caller if this
 * fails: CTX_E_NOMEM, CTX_E_LIMIT (more than 1000 recordings).
 */
CTX_MUST_CHECK enum ctx_status ctx_merged_open(const struct ctx_merged_input *inputs, size_t n,
					       struct ctx_event_source **ret, struct ctx_err *err);

#endif
