/*
 * Sizes of a session: ring buffers, and how much of the stack is copied with each sample.
 *
 * The kernel reserves the whole copy in the ring, whatever the stack holds, and its size is the event's, not the
 * thread's. So events that sample by time come with copies of up to three sizes, one of which is enabled
 * (session_copies.h): the small one under pressure, or where frame pointers complete the stacks. Events that count every
 * hit or nearly so, which come by the thousand within milliseconds, have one that lets a ring hold thousands.
 */
#ifndef CTX_COLLECT_SESSION_SIZES_H
#define CTX_COLLECT_SESSION_SIZES_H

#include "collect/perfevent.h"

#include <stddef.h>

enum ctx_copy { /* which of the sizes */
		CTX_COPY_SMALL,
		CTX_COPY_USUAL,
		CTX_COPY_LARGE,
		CTX_COPY_N,
};

struct ctx_session_load {
	size_t stack_bytes; /* asked; 0: no copies */
	bool stack_is_fixed;
	size_t ring_bytes; /* asked, per CPU; 0: not asked */
	size_t lockable;   /* bytes that a ring may have; SIZE_MAX: unlimited */
	size_t n_cpus;
	double hz;	 /* samples per second and CPU of events that sample by time */
	bool has_bursts; /* an event that samples every hit, or one of a few */
	bool has_states;
};

struct ctx_session_sizes {
	size_t ring_bytes;	       /* per CPU */
	size_t stack_bytes;	       /* the usual copy; 0: none */
	size_t burst_bytes;	       /* of events that come in bursts */
	size_t copy_bytes[CTX_COPY_N]; /* 0: there is no such copy */
};

/* Whether samples of this event come in bursts. */
bool ctx_perf_event_bursts(const struct ctx_perf_event *event);

/* Sets hz and has_bursts. */
void ctx_session_load_events(struct ctx_session_load *load, const struct ctx_perf_events *events);

struct ctx_session_sizes ctx_session_sizes_choose(const struct ctx_session_load *load);

/* No ring has less, bytes. */
size_t ctx_session_ring_min(void);

/* What one of the rings may have so that all CPUs get the same: the limit on locked memory is one sum for all. */
size_t ctx_session_lockable(size_t n_cpus);

#endif
