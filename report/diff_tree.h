/*
 * The rows of a compared call tree, with both sides' weights: siblings by the size of their change.
 *
 *	A     B	  change   tree
 *	100  130   +30	   main		explained by main > run > hash: each has 80 % of what the one above changed
 *	 90  119   +29	   |- run
 *	 40   69   +29	   |  `- hash
 *	 10   11    +1	   `- read
 */
#ifndef CTX_REPORT_DIFF_TREE_H
#define CTX_REPORT_DIFF_TREE_H

#include "compare/diff.h"

#include <stdbool.h>

/* The share of its parent's change that a node has which explains it; at most the inverse: else others undo some. */
#define CTX_DIFF_EXPLAINED 0.8

struct ctx_diff_node {
	uint32_t row;	 /* of the diff; CTX_NONE: the root, which is everything */
	uint32_t parent; /* node; CTX_NONE of the root */
	uint32_t end;	 /* the first node behind its subtree */
	uint32_t level;	 /* of the root 0 */
	double change;
	uint32_t explained; /* the node that explains its change; itself: none below does */
};

struct ctx_diff_tree {		     /* owned by the caller (ctx_diff_tree_deinit) */
	struct ctx_diff_node *nodes; /* depth first; siblings by the size of the change, then the weight */
	uint32_t n;
};

/* Of a diff with the subject CTX_DIFF_TREE. O(rows * log rows). CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_diff_tree_make(const struct ctx_diff *diff, struct ctx_diff_tree *ret,
						  struct ctx_err *err);
void ctx_diff_tree_deinit(struct ctx_diff_tree *tree);

/*
 * What is shown of a tree to people: `least` is the smallest change that is; nodes with a verdict are, and all above
 * them. `last_of` gets, by node, the last node of the chain that begins there (a node joins its only shown child if
 * that has nearly all of its change), or CTX_NONE: it is in another's chain, or not shown. Returns the number of rows.
 */
uint32_t ctx_diff_tree_fold(const struct ctx_diff *diff, const struct ctx_diff_tree *tree, double least,
			    bool joins, uint32_t *last_of);

#endif
