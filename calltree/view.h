/*
 * A view of call stacks: which frames of each are shown, and under which names.
 *
 *	rules		stack (root first)	becomes
 *	METHOD		start vm m n		m		`drops` what is native above it, `absorbs` what is native below
 *	LEAF		start vm n		<vm>		it, and what it calls, are one frame with the rule's key
 *	LEAF, METHOD	f rt g rt n		f g <rt>	a later method hangs where the leaf hung
 *	HIDE		f h g			f g
 *	MARK		cut m			cut m		stays whatever is above or below
 *	RESTART		a b | c d		c d		what is above vanishes, and so does the frame
 *	GRAFT		a b | c m		a b m		hidden, with what is native up to the next METHOD
 *
 * The frames of a stack are judged from the root to the leaf, by the rule of each and by what was before
 * it; so a stack of the view has one place, whose ancestors' places are known first, and each stack keeps its
 * weight: sums over a view are those over the recording. Pure: names and kinds are the caller's
 * (report/view_rules.h).
 *
 * Source: requirement E13.
 */
#ifndef CTX_CALLTREE_VIEW_H
#define CTX_CALLTREE_VIEW_H

#include "model/histogram.h"
#include "model/trie.h"

#include <stdbool.h>
#include <stdint.h>

enum ctx_view_action {
	CTX_VIEW_KEEP = 0,
	CTX_VIEW_HIDE,	  /* the frame vanishes: its time is its caller's */
	CTX_VIEW_METHOD,  /* code of users: it ends what a LEAF or GRAFT began */
	CTX_VIEW_LEAF,	  /* code that stands for a label */
	CTX_VIEW_MARK,	  /* a frame that is no code */
	CTX_VIEW_RESTART, /* stacks begin behind it */
	CTX_VIEW_GRAFT,
};

/* What becomes of frames with a key. All zero but for `key`: they stay. */
struct ctx_view_rule {
	uint32_t key; /* of the frame in the view */
	enum ctx_view_action action;
	bool drops;   /* METHOD, LEAF: kept frames above vanish, up to the last METHOD or MARK */
	bool absorbs; /* METHOD: kept and LEAF frames below vanish, up to the next METHOD or MARK */
	bool strong;  /* LEAF: replaces the label of a LEAF above it */
};

/* Stacks of a prefix tree, and what they are in the view. */
struct ctx_view_map {
	struct ctx_trie to; /* all nodes of the given tree with their ids, and further ones */
	uint32_t *of;	    /* by stack: its node in the view */
	/*
	 * By stack: the deepest node that is on the path to every stack of the view that one of its descendants
	 * became. Where a sample's stack goes on from it, it is what the two have in common.
	 */
	uint32_t *common;
	uint32_t n; /* stacks */
};

/*
 * `rules`: by key of the tree. Call ctx_view_map_deinit in any case. O(nodes), but for `common`: O(nodes *
 * depth).
 */
CTX_MUST_CHECK enum ctx_status ctx_view_map_make(struct ctx_view_map *map, const struct ctx_trie *from,
						 const struct ctx_view_rule *rules, struct ctx_err *err);
void ctx_view_map_deinit(struct ctx_view_map *map);

#endif
