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
	uint64_t plain_end;	  /* up to there is room in one piece; less than head: it is not known */
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

/* Bytes of the longest record, and as much again, for the padding at the end of the ring. */
#define CTX_RT_RING_MOST ((uint64_t)2 * CTX_RT_RECORD_WORDS_MAX * 8)

#define CTX_RT_RING_AHEAD 192u /* bytes: some records without new frames */

/* Whether the longest record fits. Reads the shared tail only where it has to. */
static inline bool ctx_rt_ring_has_room(struct ctx_rt_ring *ring)
{
	if (ring->bytes - (ring->head - ring->tail) >= CTX_RT_RING_MOST)
		return true;
	ring->tail = atomic_load_explicit(&ring->slot->tail, memory_order_acquire);
	/* A tail beyond the head is none that the recorder writes. */
	return ring->head - ring->tail <= ring->bytes - CTX_RT_RING_MOST;
}

/* Where there is room for more, ctx_rt_ring_put_plain finds out at once from here on. */
static inline void ctx_rt_ring_plan(struct ctx_rt_ring *ring)
{
	uint64_t lap = (ring->head | (ring->bytes - 1)) + 1, room;

	if (!ctx_rt_ring_has_room(ring))
		return;
	room = ring->tail + ring->bytes - CTX_RT_RING_MOST;
	ring->plain_end = room < lap ? room : lap;
}

/*
 * Appends a record without new frames and without text, of `n` words behind the first. False: nothing is done, there may be no
 * room, or not in one piece, or it was not planned.
 */
static inline bool ctx_rt_ring_put_plain(struct ctx_rt_ring *ring, const struct ctx_rt_word0 *word,
					 const uint64_t *words, unsigned n)
{
	const uint64_t end = ring->head + (1 + n) * sizeof(*words);
	uint64_t *out = ring->words + (ring->head & (ring->bytes - 1)) / sizeof(*out);

	if (__builtin_expect(end > ring->plain_end, 0))
		return false;
	*out = ctx_rt_pack(word);
	for (unsigned i = 0; i < n; i++)
		out[1 + i] = words[i];
	ring->head = end;
	atomic_store_explicit(&ring->slot->head, end, memory_order_release);
	/* The recorder has read the line: until the next records come, it is here again. */
	__builtin_prefetch(out + CTX_RT_RING_AHEAD / sizeof(*out), 1);
	return true;
}

/* Appends; there must be room. */
void ctx_rt_ring_put(struct ctx_rt_ring *ring, const struct ctx_rt_operation *operation);

#endif
