/*
 * A thread that empties the rings of traced processes while the recorder does other things: a ring of 4 MiB lasts
 * some 10 ms.
 *
 * All rings are pulled together, at one moment, the horizon: what was written before it is in the queues then. So
 * records up to the horizon can be put in order of time. The thread pulls when nobody has done so for some
 * milliseconds, and while the queues hold less than their limit; beyond it rings fill up. Segments whose process is
 * not known are left alone.
 *
 * The lock guards the list of segments and their processes, of their rings what belongs to who pulls, and the pool. It is held for as
 * long as it takes to copy what is in the rings.
 */
#ifndef CTX_COLLECT_TRACE_DRAIN_H
#define CTX_COLLECT_TRACE_DRAIN_H

#include "collect/trace_segments.h"

struct ctx_trace_drain;

/*
 * `segments` are borrowed. No thread yet. `limit_bytes`: of all queues together, about. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_trace_drain_create(struct ctx_trace_segments *segments, size_t limit_bytes,
						      struct ctx_trace_drain **ret, struct ctx_err *err);
/* Ends the thread. Queues are emptied. NULL is allowed. */
void ctx_trace_drain_destroy(struct ctx_trace_drain *drain);

/*
 * Begins the thread: not before a fork. Without one, rings are emptied less often, and nothing else changes.
 * `longest_pause_ns`: between two looks at rings in which little is found.
 */
void ctx_trace_drain_start(struct ctx_trace_drain *drain, uint64_t longest_pause_ns);

#define CTX_TRACE_PAUSE_NS                                                                                   \
	UINT64_C(2000000) /* a ring that is written 300 MB a second to is full after 14 ms */

/* The next pause, from the last one and how many bytes were in the fullest ring after it, as if it were as large as can be. */
static inline uint64_t ctx_trace_drain_pause(uint64_t last_ns, uint64_t fullest_bytes, uint64_t longest_ns)
{
	if (fullest_bytes > CTX_RT_RING_BYTES_MAX / 32)
		return CTX_TRACE_PAUSE_NS;
	return last_ns * 2 < longest_ns ? last_ns * 2 : longest_ns;
}

void ctx_trace_drain_lock(struct ctx_trace_drain *drain);
void ctx_trace_drain_unlock(struct ctx_trace_drain *drain);

/*
 * With the lock: pulls all rings if the queues hold less than their limit, and hands what has been pulled to who
 * reads. Returns the horizon. `spent` goes back to the pool.
 */
uint64_t ctx_trace_drain_pull(struct ctx_trace_drain *drain, struct ctx_trace_chunk **spent);

/*
 * With the lock: the same of all segments of one process, whatever the queues hold. Returns the moment at which
 * they were pulled.
 */
uint64_t ctx_trace_drain_pull_process(struct ctx_trace_drain *drain, int64_t pid);

/* With the lock, before the segment is removed. */
void ctx_trace_drain_forget(struct ctx_trace_drain *drain, struct ctx_trace_segment *segment);

#endif
