/*
 * One ring buffer shared with the kernel: whole records in order, borrowed in place; only a record that wraps
 * around the end is copied.
 */
#ifndef CTX_COLLECT_RING_H
#define CTX_COLLECT_RING_H

#include "base/err.h"

#include <linux/perf_event.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_ring {
	struct perf_event_mmap_page *page; /* NULL: not mapped */
	const uint8_t *data;
	size_t size;	     /* of the data, bytes, a power of two */
	uint64_t head;	     /* what the kernel had written at the last refresh */
	uint64_t tail;	     /* what we have consumed */
	uint64_t published;  /* the tail that the kernel knows */
	uint64_t *wrapped;   /* room for one record of the largest size */
	size_t mapped_bytes; /* 0: not ours to unmap */
};

/* Maps the ring of an event: `pages` (a power of two) of data. Fails with CTX_E_PERM when the limit on locked
 * memory is reached, CTX_E_IO, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_ring_map(struct ctx_ring *ring, int fd, size_t pages, struct ctx_err *err);

/* The same over memory that somebody else owns (tests). */
CTX_MUST_CHECK enum ctx_status ctx_ring_attach(struct ctx_ring *ring, struct perf_event_mmap_page *page,
					       const uint8_t *data, size_t size, struct ctx_err *err);

void ctx_ring_unmap(struct ctx_ring *ring);

/* Sees what the kernel has written since. */
void ctx_ring_refresh(struct ctx_ring *ring);

/* Bytes that wait, as of the last refresh. */
static inline uint64_t ctx_ring_fill(const struct ctx_ring *ring)
{
	return ring->head - ring->tail;
}

/*
 * The next record, aligned to 8 and valid until ctx_ring_publish: of what is not published yet, at most one record wraps
 * around the end. NULL: nothing waits. A header that cannot be right (a bug of the kernel's or a torn ring) drops all that
 * waits and counts in `*damaged`.
 */
const struct perf_event_header *ctx_ring_peek(struct ctx_ring *ring, uint64_t *damaged);

/* Steps over the record that peek gave. */
void ctx_ring_advance(struct ctx_ring *ring, size_t n);

/* Gives what was stepped over back to the kernel. */
void ctx_ring_publish(struct ctx_ring *ring);

#endif
