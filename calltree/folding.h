/*
 * Rows of a call tree for reading: chains of single children are one row, small nodes are hidden.
 *
 *	node	total self		row	total self
 *	a	  100	 0		a › b	  100	 1
 *	 b	   99	 1		 c	   60	60
 *	  c	   60	60		 d	   38	38
 *	  d	   38	38		hidden: 1 node, 1
 *	 e	    1	 1
 *
 * A node joins its only child that is not small if that has at least 97 % of it, and what the node
 * itself has is small too. The sum of self over all rows, and what is hidden, is the total. Pure; of
 * one metric or of several over the same nodes, where small means in each of them.
 */
#ifndef CTX_CALLTREE_FOLDING_H
#define CTX_CALLTREE_FOLDING_H

#include "calltree/calltree.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_FOLDING_JOINED_PERCENT 97u

struct ctx_folding_input {
	const struct ctx_calltree *trees; /* of the same nodes; borrowed */
	size_t n_trees;			  /* at least 1 */
	const double *least;		  /* by tree: weights below it are small; borrowed */
	uint32_t max_level;		  /* rows below it are hidden */
	bool joins;			  /* false: every row is one node */
};

struct ctx_folding_row {
	uint32_t first, last; /* nodes; the same, or a chain from first to last */
	uint32_t parent;      /* row; CTX_CALLTREE_NONE of a top */
	uint32_t level;	      /* rows above it */
	bool is_last;	      /* no sibling follows */
};

struct ctx_folding {
	const struct ctx_folding_input *input; /* borrowed */
	struct ctx_folding_row *rows;	       /* owned; depth first */
	uint64_t *self;			       /* owned; by row, n_trees each: of all its nodes */
	uint64_t *hidden;		       /* owned; by tree: what no row has */
	uint32_t *pending;		       /* owned; scratch */
	size_t n;			       /* rows */
	size_t n_small, n_deep, n_beyond;      /* hidden nodes: small, below max_level, beyond the limit */
	size_t rows_cap, self_cap, pending_cap;
};

/* Call ctx_folding_deinit in any case. */
CTX_MUST_CHECK enum ctx_status ctx_folding_init(struct ctx_folding *folding,
						const struct ctx_folding_input *input, struct ctx_err *err);
void ctx_folding_deinit(struct ctx_folding *folding);

/* Adds the rows of the subtree of `top`, which is a row even if it is small. O(nodes of rows). */
CTX_MUST_CHECK enum ctx_status ctx_folding_add(struct ctx_folding *folding, uint32_t top,
					       struct ctx_err *err);

/*
 * Keeps the `limit` heaviest rows (of the first tree; ties: the first ones) and hides the others.
 * O(rows * log rows).
 */
CTX_MUST_CHECK enum ctx_status ctx_folding_limit(struct ctx_folding *folding, size_t limit,
						 struct ctx_err *err);

#endif
