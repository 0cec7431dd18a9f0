/*
 * One ring buffer shared with the kernel: whole records in order, borrowed in place; only a record
 * that wraps around the end is copied.
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
	uint64_t head;	     /* end of the kernel's data at the last refresh */
	uint64_t tail;	     /* consumed up to here */
	uint64_t published;  /* tail published to the kernel */
	uint64_t skipped;    /* bytes that made no sense */
	uint64_t last_ns;    /* time of the last consumed record; 0: none yet */
	uint64_t *wrapped;   /* room for one record of the largest size */
	size_t mapped_bytes; /* 0: the mapping is not owned */
};

/*
 * Maps the ring of an event: `pages` (a power of two) of data. Fails with CTX_E_PERM when the limit
 * on locked memory is reached, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_ring_map(struct ctx_ring *ring, int fd, size_t pages, struct ctx_err *err);

/* The same over borrowed memory (tests). */
CTX_MUST_CHECK enum ctx_status ctx_ring_attach(struct ctx_ring *ring, struct perf_event_mmap_page *page,
					       const uint8_t *data, size_t size, struct ctx_err *err);

void ctx_ring_unmap(struct ctx_ring *ring);

/* Reads the kernel's head pointer. */
void ctx_ring_refresh(struct ctx_ring *ring);

/* Unread bytes as of the last refresh. */
static inline uint64_t ctx_ring_fill(const struct ctx_ring *ring)
{
	return ring->head - ring->tail;
}

/* The same by what the kernel sees now. */
uint64_t ctx_ring_fill_now(const struct ctx_ring *ring);

/*
 * The next record, valid until ctx_ring_publish: at most one unpublished record wraps around the end. NULL: the ring is
 * empty. An invalid header (a kernel bug or a torn ring) drops all unread data, and counts in `*damaged` and its bytes in `skipped`.
 *
 * It may be at any address: of the copy of a stack the kernel leaves out what would be beyond the end of the address
 * space, and so records of programs of 32 bits, whose stack is there, have sizes that are no multiple of 8.
 */
const void *ctx_ring_peek(struct ctx_ring *ring, uint64_t *damaged);

/* Consumes the record that peek returned. */
void ctx_ring_advance(struct ctx_ring *ring, size_t n);

/* Returns consumed room to the kernel. */
void ctx_ring_publish(struct ctx_ring *ring);

#endif
