/*
 * Writing operations of one thread into its ring (shared_layout.h).
 *
 * Of a stack the new frames are written, and how many of the last one in the ring are kept (rt_walk.h).
 * Neither locks nor allocates.
 */
#ifndef CTX_RUNTIME_RT_RING_H
#define CTX_RUNTIME_RT_RING_H

#include "runtime/shared_layout.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The producer's side; all zero, then the first three fields. */
struct ctx_rt_ring {
	struct ctx_rt_slot *slot; /* shared */
	uint64_t *words;	  /* shared */
	uint64_t bytes;		  /* a power of two */
	uint64_t head, tail;	  /* what the slot has, as far as known */
};

struct ctx_rt_operation {
	enum ctx_rt_kind kind;
	uint64_t words[CTX_RT_ARGUMENTS_MAX]; /* ctx_rt_words(kind) of them */
	const uint64_t *frames;		      /* the new ones, leaf first */
	uint32_t n_new, kept;		      /* both 0 for kinds without a stack */
	uint32_t end;			      /* enum ctx_truncation */
	uint32_t text_bytes;		      /* of kinds with text: 1 to CTX_RT_TEXT_MAX */
	const char *text;
};

/* Whether the longest record fits. Reads the shared tail only where it has to. */
static inline bool ctx_rt_ring_has_room(struct ctx_rt_ring *ring)
{
	/* As much again, for the padding at the end of the ring. */
	const uint64_t most = 2 * CTX_RT_RECORD_WORDS_MAX * 8;

	if (ring->bytes - (ring->head - ring->tail) >= most)
		return true;
	ring->tail = atomic_load_explicit(&ring->slot->tail, memory_order_acquire);
	/* A tail beyond the head is none that the recorder writes. */
	return ring->head - ring->tail <= ring->bytes - most;
}

/* Appends; there must be room. */
void ctx_rt_ring_put(struct ctx_rt_ring *ring, const struct ctx_rt_operation *operation);

#endif
