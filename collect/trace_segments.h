/*
 * Segments of traced processes (runtime/shared_layout.h): who connects to the recorder's socket and sends
 * a memory file has it mapped here.
 *
 * Nothing is taken on trust: the process id is the kernel's word (SO_PEERCRED), the file must be a sealed
 * memory file of the right size, so that it can be read whatever the sender does. Connections that send
 * nothing are dropped after a second.
 */
#ifndef CTX_COLLECT_TRACE_SEGMENTS_H
#define CTX_COLLECT_TRACE_SEGMENTS_H

#include "collect/trace_ring.h"

#include <stdbool.h>

struct ctx_trace_segment {
	struct ctx_trace_segment *next;
	struct ctx_rt_header *header; /* the mapping */
	int64_t pid;
	uint64_t created_ns; /* the target's word */
	uint32_t process;    /* number; CTX_NONE: not known yet. Set with the drain's lock */
	struct ctx_trace_ring rings[CTX_RT_SLOTS];
	uint32_t threads[CTX_RT_SLOTS]; /* number of the thread whose ring it is; CTX_NONE: not known */
};

#define CTX_TRACE_CONNECTIONS_MAX 64u

struct ctx_trace_connection {
	int fd;
	uint64_t since_ns;
};

struct ctx_trace_segments {
	int listener;  /* -1: none */
	char name[64]; /* of the abstract socket, without the zero byte */
	struct ctx_trace_connection connections[CTX_TRACE_CONNECTIONS_MAX]; /* that have sent nothing yet */
	size_t n_connections;
	struct ctx_trace_segment *first; /* owned; the newest first */
	size_t n;
	uint64_t refused; /* what was sent could not be used */
};

/* Fails with CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_trace_segments_init(struct ctx_trace_segments *segments,
						       struct ctx_err *err);
/* Tells all targets that nobody reads any more. */
void ctx_trace_segments_deinit(struct ctx_trace_segments *segments);

/* Takes what was sent so far. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_trace_segments_accept(struct ctx_trace_segments *segments, uint64_t now_ns,
							 struct ctx_err *err);

/* Removes *place, which is segments->first or a `next`. */
void ctx_trace_segments_remove(struct ctx_trace_segments *segments, struct ctx_trace_segment **place);

/*
 * Maps a memory file: only one that its sender cannot shrink any more, of the right size, with the right
 * first words. `fd` stays the caller's. CTX_E_FORMAT, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_trace_segment_map(int fd, struct ctx_trace_segment **ret,
						     struct ctx_err *err);
void ctx_trace_segment_unmap(struct ctx_trace_segment *segment);

#endif
