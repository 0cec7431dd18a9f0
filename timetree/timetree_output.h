/*
 * Output of both build modes: ids, and leaves for the sink. Private to timetree/.
 */
#ifndef CTX_TIMETREE_TIMETREE_OUTPUT_H
#define CTX_TIMETREE_TIMETREE_OUTPUT_H

#include "timetree/timetree.h"

struct ctx_timetree_output {
	struct ctx_timetree_plan plan;
	uint32_t n_nodes; /* number of ids assigned */
};

/* Assigns ids to the children of one node. CTX_E_LIMIT: more than 32 bits. */
CTX_MUST_CHECK enum ctx_status ctx_timetree_give_ids(struct ctx_timetree_output *output, uint32_t *ret_first,
						     struct ctx_err *err);

/* Passes a leaf to the sink; sets its totals. */
CTX_MUST_CHECK enum ctx_status ctx_timetree_emit_leaf(const struct ctx_timetree_output *output,
						      struct ctx_timenode *node,
						      const struct ctx_sample *samples, size_t n,
						      struct ctx_err *err);

#endif
