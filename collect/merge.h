/*
 * Merges the rings of all CPUs by time, straight out of the rings.
 *
 *	ctx_merge_begin(&merge, now - slack);
 *	while ((header = ctx_merge_next(&merge)) != NULL) {
 *		...
 *		if (ctx_merge_is_due(&merge))
 *			ctx_merge_release(&merge);
 *	}
 *	ctx_merge_release(&merge);
 *
 * A round sees what was in the rings when it began, up to a time: a record younger than that stays, because
 * an older one may still be under way on another CPU. When a ring is more than half full, the round takes
 * everything, for losing records is worse than a few out of order.
 */
#ifndef CTX_COLLECT_MERGE_H
#define CTX_COLLECT_MERGE_H

#include "collect/ring.h"

#include <stdbool.h>

struct ctx_merge_head {
	uint64_t time_ns;
	uint32_t ring;
	uint32_t size; /* of the record */
};

struct ctx_merge {
	struct ctx_ring *rings; /* borrowed */
	uint32_t n_rings;
	struct ctx_merge_head *heap; /* owned: the oldest record of each ring that has one, oldest first */
	uint32_t n_heap;
	uint64_t limit_ns;
	bool holds;	  /* the record on top of the heap is with the caller */
	bool is_due;	  /* a ring has handed out much that the kernel does not know of */
	unsigned fullest; /* percent that the fullest ring was filled when the round began */
	uint64_t damaged; /* times that a ring had to be skipped over */
};

CTX_MUST_CHECK enum ctx_status ctx_merge_init(struct ctx_merge *merge, struct ctx_ring *rings,
					      uint32_t n_rings, struct ctx_err *err);
void ctx_merge_deinit(struct ctx_merge *merge);

/* Starts a round. */
void ctx_merge_begin(struct ctx_merge *merge, uint64_t limit_ns);

/* The oldest record of the round, valid until ctx_merge_release; NULL at the end of the round. O(log rings). */
const struct perf_event_header *ctx_merge_next(struct ctx_merge *merge);

/* Should the kernel get its room back soon? */
static inline bool ctx_merge_is_due(const struct ctx_merge *merge)
{
	return merge->is_due;
}

/* Gives the room of all records that were handed out back to the kernel. */
void ctx_merge_release(struct ctx_merge *merge);

#endif
