/*
 * What the two ways of building share, and the arithmetic that builder, query and check must agree on.
 * Private to timetree/.
 */
#ifndef CTX_TIMETREE_TIMETREE_BUILDER_H
#define CTX_TIMETREE_TIMETREE_BUILDER_H

#include "timetree/node_summary.h"
#include "timetree/timetree.h"

/* An inner node whose interval is not over yet. */
struct ctx_timetree_level {
	struct ctx_interval interval;
	uint32_t id, parent, first_child;
	uint32_t open_child;		/* number of the child that is being filled, 0 .. fanout - 1 */
	struct ctx_histogram histogram; /* of the children that are closed */
};

struct ctx_timetree_builder {
	struct ctx_timetree_params params;
	struct ctx_interval run;
	const struct ctx_trie *cct;
	struct ctx_timetree_sink sink;
	struct ctx_sample *samples; /* residual: of the open leaf; cascade: all */
	size_t n_samples, samples_cap;
	struct ctx_timetree_level *levels; /* residual: [0, depth) are open, [0, n_levels) own memory */
	size_t depth, n_levels, levels_cap;
	struct ctx_interval leaf; /* residual: the open leaf */
	uint32_t leaf_id;
	uint32_t n_nodes; /* ids given */
	uint64_t last_ns;
	uint64_t weight; /* of all samples so far */
	uint64_t moved;
	struct ctx_node_summary summary;
	bool over; /* finished, or failed */
};

/* Part `i` of `n` of an interval; parts of an interval of at least n ns are not empty. */
static inline struct ctx_interval ctx_timetree_part(struct ctx_interval whole, uint32_t i, uint32_t n)
{
	unsigned __int128 width = whole.end_ns - whole.begin_ns;

	return (struct ctx_interval){
		.begin_ns = whole.begin_ns + (uint64_t)(width * i / n),
		.end_ns = whole.begin_ns + (uint64_t)(width * (i + 1) / n),
	};
}

/* May a node with so many samples be a leaf? */
static inline bool ctx_timetree_is_leaf(const struct ctx_timetree_params *params,
					struct ctx_interval interval, size_t n_samples)
{
	return n_samples < params->leaf_samples || interval.end_ns - interval.begin_ns < params->fanout;
}

/* Ids for the children of one node. CTX_E_LIMIT when 32 bits do not hold them. */
CTX_MUST_CHECK enum ctx_status ctx_timetree_give_ids(struct ctx_timetree_builder *builder,
						     uint32_t *ret_first, struct ctx_err *err);

/* Hands a leaf to the sink. */
CTX_MUST_CHECK enum ctx_status ctx_timetree_emit_leaf(const struct ctx_timetree_builder *builder,
						      struct ctx_timenode *node,
						      const struct ctx_sample *samples, size_t n,
						      struct ctx_err *err);

/* Builds the whole tree from builder->samples, which it rearranges. */
CTX_MUST_CHECK enum ctx_status ctx_timetree_build_cascade(struct ctx_timetree_builder *builder,
							  struct ctx_err *err);

#endif
