/*
 * Where recordings lie on one time line.
 */
#ifndef CTX_INGEST_JOINT_PLACE_H
#define CTX_INGEST_JOINT_PLACE_H

#include "model/event_source.h"

struct ctx_joint_input {
	struct ctx_event_source *source;
	const char *name;   /* as the user calls it; borrowed */
	int64_t offset_ns;  /* from the begin of the first recording to that of this one */
	bool has_offset;    /* the user says so; else ctx_joint_place finds it */
	const char *placed; /* how it was found: "CLOCK_MONOTONIC of vm", "the wall clock", "--offset" */
};

/*
 * Finds the offsets, so that the earliest is 0: as given, by clocks of one name on one host, else by the
 * wall clock. Recordings without times begin with the earliest. `placed` is a static string, or a
 * source's. CTX_E_ARG: a recording has no clock that one placed before it has, or lies 2^62 ns or more from another.
 */
CTX_MUST_CHECK enum ctx_status ctx_joint_place(struct ctx_joint_input *inputs, size_t n, struct ctx_err *err);

#endif
