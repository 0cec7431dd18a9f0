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
#ifndef CTX_INGEST_JOINT_H
#define CTX_INGEST_JOINT_H

#include "ingest/joint_place.h"

/*
 * Inputs that are placed. The sources are owned by the result, and closed with it; by the caller if this
 * fails: CTX_E_NOMEM, CTX_E_LIMIT (more than 1000 recordings), CTX_E_ARG (allocations that were sampled
 * differently, single calls beside sums of calls).
 */
CTX_MUST_CHECK enum ctx_status ctx_joint_open(const struct ctx_joint_input *inputs, size_t n,
					      struct ctx_event_source **ret, struct ctx_err *err);

#endif
