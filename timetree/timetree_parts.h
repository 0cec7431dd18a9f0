/*
 * How a node is split: arithmetic shared by builders, query and check. Private to timetree/.
 */
#ifndef CTX_TIMETREE_TIMETREE_PARTS_H
#define CTX_TIMETREE_TIMETREE_PARTS_H

#include "timetree/timetree.h"

/* Part `i` of `n` of an interval; parts of an interval of at least n ns are not empty. */
static inline struct ctx_interval ctx_timetree_part(struct ctx_interval whole, uint32_t i, uint32_t n)
{
	unsigned __int128 width = whole.end_ns - whole.begin_ns;

	return (struct ctx_interval){
		.begin_ns = whole.begin_ns + (uint64_t)(width * i / n),
		.end_ns = whole.begin_ns + (uint64_t)(width * (i + 1) / n),
	};
}

/* Whether a node with this many samples may be a leaf. */
static inline bool ctx_timetree_is_leaf(const struct ctx_timetree_params *params,
					struct ctx_interval interval, size_t n_samples)
{
	return n_samples < params->leaf_samples || interval.end_ns - interval.begin_ns < params->fanout;
}

#endif
