/*
 * One node of a hierarchical time tree, as stored: the row that timetree/ writes and reads and
 * store/ keeps.
 */
#ifndef CTX_MODEL_TIMENODE_H
#define CTX_MODEL_TIMENODE_H

#include "model/interval.h"

#include <stddef.h>
#include <stdint.h>

struct ctx_timenode {
	uint32_t id;	      /* 0 is the root; children of one node have consecutive ids */
	uint32_t parent;      /* of the root: 0 */
	uint32_t level;	      /* of the root: 0 */
	uint32_t first_child; /* 0: a leaf */
	uint32_t n_children;  /* 0: a leaf */
	struct ctx_interval interval;
	uint64_t samples; /* exact in residual mode; in cascade mode those not dropped by an ancestor */
	uint64_t weight;
	uint64_t tail_weight; /* weight that `top` omits */
	uint64_t tail_samples;
	uint64_t tail_largest; /* the largest weight of one stack in the tail */
	/*
	 * Encoded lists (timetree/timenode_codec.h), inner nodes only; borrowed from the creator of
	 * the row.
	 */
	const uint8_t *top, *tail, *calls;
	size_t top_bytes, tail_bytes, calls_bytes;
};

#endif
