/*
 * Segments of traced processes (runtime/shared_layout.h): memory files that the recorder makes for them, within a
 * bound (trace_grant.h).
 *
 * Two threads share them: one that answers processes makes segments (trace_listener.h), the recorder's takes them
 * over into its list and removes them. Nothing that is read from a segment is taken on trust but what is kept beside it here.
 */
#ifndef CTX_COLLECT_TRACE_SEGMENTS_H
#define CTX_COLLECT_TRACE_SEGMENTS_H

#include "collect/trace_grant.h"
#include "collect/trace_ring.h"

#include <pthread.h>
#include <stdbool.h>

struct ctx_trace_segment {
	struct ctx_trace_segment *next;
	struct ctx_rt_header *header; /* the mapping */
	struct ctx_trace_grant grant;
	int64_t pid;
	uint64_t created_ns;
	uint32_t process; /* number; CTX_NONE: not known yet. Set with the drain's lock */
	struct ctx_trace_ring rings[CTX_RT_SLOTS]; /* grant.slots of them */
	uint32_t threads[CTX_RT_SLOTS]; /* number of the thread whose ring it is; CTX_NONE: not known */
};

struct ctx_trace_segments {
	struct ctx_trace_segment *first; /* owned; the newest first */
	size_t n;
	pthread_mutex_t lock;		   /* of all below */
	struct ctx_trace_segment *arrived; /* owned; the newest first: made since the last taking over */
	uint64_t limit_bytes, used_bytes,
		most_bytes;    /* of rings: the bound, what they have, and had at most */
	uint64_t failed;       /* could not be made, for other reasons than the bound */
	uint64_t refused;      /* for the bound: of processes that have none */
	uint64_t refused_more; /* of processes that have some */
	uint64_t untraced[CTX_RT_UNTRACED_END -
			  CTX_RT_UNTRACED_FIRST]; /* processes that go on without, by reason */
	bool are_closed;			  /* by ctx_trace_segments_close */
	uint64_t start_ns, second_ticks;	  /* for headers; set before there are segments */
};

void ctx_trace_segments_init(struct ctx_trace_segments *segments, uint64_t limit_bytes);
/* Tells all targets that nobody reads any more, so that none waits; none is made from here on. By the recorder's thread. */
void ctx_trace_segments_close(struct ctx_trace_segments *segments);
/* The same, and releases them. */
void ctx_trace_segments_deinit(struct ctx_trace_segments *segments);

/*
 * Makes a segment for a process that says to have `n_segments`; it is among those that have arrived. `*ret_fd` is the
 * memory file's, for the process, to be closed. CTX_END: the bound is reached, which is counted. CTX_E_IO,
 * CTX_E_NOMEM. From any thread.
 */
CTX_MUST_CHECK enum ctx_status ctx_trace_segments_make(struct ctx_trace_segments *segments, int64_t pid,
						       uint32_t n_segments, int *ret_fd, struct ctx_err *err);

/* Takes over those that have arrived. */
void ctx_trace_segments_take(struct ctx_trace_segments *segments);

/* Removes *place, which is segments->first or a `next`. */
void ctx_trace_segments_remove(struct ctx_trace_segments *segments, struct ctx_trace_segment **place);

#endif
