/*
 * How much memory a traced process gets for its rings (runtime/shared_layout.h), so that all processes together stay
 * within a bound: a part of what is left, at most 4 MB and at least 64 KB for each ring.
 *
 * A process begins with one ring; each further segment has twice as many, up to 16. As long as half is left, a
 * segment takes a sixteenth of it, behind that a sixty-fourth, so that there is something for many.
 */
#ifndef CTX_COLLECT_TRACE_GRANT_H
#define CTX_COLLECT_TRACE_GRANT_H

#include "runtime/shared_layout.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_trace_grant {
	uint32_t slots;
	uint64_t ring_bytes;
};

/* Of a segment for a process that has `n_segments`. False: not even one ring fits into what is left. */
bool ctx_trace_grant(uint64_t limit_bytes, uint64_t used_bytes, uint32_t n_segments,
		     struct ctx_trace_grant *ret);

#endif
