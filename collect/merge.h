/*
 * Merges the records of all CPUs' rings by time, without copying.
 *
 *	ctx_merge_begin(&merge, now - slack);
 *	while ((record = ctx_merge_next(&merge)) != NULL) {
 *		...
 *		if (ctx_merge_is_due(&merge))
 *			ctx_merge_release(&merge);
 *	}
 *	ctx_merge_release(&merge);
 *
 * A round sees what was in the rings when it began, up to a time: a record younger than that stays,
 * because an older one may still be under way on another CPU. When a ring is more than half full,
 * the round takes everything, for losing records is worse than a few out of order.
 */
#ifndef CTX_COLLECT_MERGE_H
#define CTX_COLLECT_MERGE_H

#include "collect/ring.h"

#include <stdbool.h>

struct ctx_merge_head {
	uint64_t time_ns;
	uint32_t ring;
	uint32_t size;	    /* of the record */
	const void *record; /* borrowed from the ring, at any address */
};

struct ctx_merge {
	struct ctx_ring *rings; /* borrowed */
	uint32_t n_rings;
	struct ctx_merge_head *heap; /* owned: the oldest record of each ring that has one, oldest first */
	uint32_t n_heap;
	uint64_t limit_ns;
	bool holds;	  /* the caller holds the record on top of the heap */
	bool is_due;	  /* a ring has much consumed data that is not yet published to the kernel */
	unsigned fullest; /* fill level of the fullest ring when the round began, in percent */
	uint64_t damaged; /* times that the contents of a ring had to be dropped */
};

CTX_MUST_CHECK enum ctx_status ctx_merge_init(struct ctx_merge *merge, struct ctx_ring *rings,
					      uint32_t n_rings, struct ctx_err *err);
void ctx_merge_deinit(struct ctx_merge *merge);

/* Starts a round. */
void ctx_merge_begin(struct ctx_merge *merge, uint64_t limit_ns);

/*
 * The oldest record of the round, valid until ctx_merge_release; NULL at the end of the round.
 * O(log rings).
 */
const void *ctx_merge_next(struct ctx_merge *merge);

/* Time of the record before the current one in the same ring; 0: it is the ring's first. */
static inline uint64_t ctx_merge_previous_ns(const struct ctx_merge *merge)
{
	return merge->rings[merge->heap[0].ring].last_ns;
}

/* The ring of the current record. */
static inline uint32_t ctx_merge_ring(const struct ctx_merge *merge)
{
	return merge->heap[0].ring;
}

/* Whether consumed room should be returned to the kernel soon. */
static inline bool ctx_merge_is_due(const struct ctx_merge *merge)
{
	return merge->is_due;
}

/* Fill level of the fullest ring now, in percent, with what has been added since the round began. */
unsigned ctx_merge_fill(const struct ctx_merge *merge);

/* Returns the room of all consumed records to the kernel. */
void ctx_merge_release(struct ctx_merge *merge);

#endif
