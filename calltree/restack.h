/*
 * Rewrites call stacks by rules, from one prefix tree into another.
 *
 *	rule		stack			becomes
 *	recursion	main f f f g		main f(3 instances) g
 *	mutual		main f g f g h		main f(2) g(2) h
 *	region		main read K1 K2 K3	main read K1		K1 to K3 are of one region
 *	refined		main read K1 K2 K3	main read K2		K2 refines
 *	hidden		main f g		main g			f is hidden
 *	begins		main f g		f g			stacks without f are dropped
 *
 * A stack that returns to a function is the stack of its first instance, so every stack has one
 * place, and sums over the new tree count each weight once. Pure: names and objects are the
 * caller's. A stack is rewritten when it is first asked for.
 */
#ifndef CTX_CALLTREE_RESTACK_H
#define CTX_CALLTREE_RESTACK_H

#include "model/histogram.h"
#include "model/trie.h"

#include <stdbool.h>
#include <stdint.h>

/* What happens to frames with a key. */
struct ctx_restack_rule {
	uint32_t key;	 /* of the new frame: their own, or that of a label */
	uint32_t region; /* 0: none. Frames of one region that follow each other are one frame */
	bool refines;	 /* its key is that of the region's frame, unless an earlier one refined it */
	bool inner;	 /* a region that begins at the root stays as it is */
	bool apart;	 /* folded with its direct caller only: <Unknown> is not one function */
	bool hidden;
	bool begins; /* stacks begin with the first such frame, if the rules say so */
};

struct ctx_restack_rules {
	const struct ctx_restack_rule *of_key; /* by key of the old tree; borrowed */
	bool recursion;			       /* is folded */
	bool begin;			       /* stacks begin with a frame that begins */
	bool keep; /* the new tree has all nodes of the old one, with their ids, and more */
};

struct ctx_restack_place; /* of an old stack */

struct ctx_restack {
	const struct ctx_trie *from; /* borrowed */
	struct ctx_restack_rules rules;
	struct ctx_trie to;		  /* owned */
	struct ctx_restack_place *places; /* owned; by old stack */
	uint32_t *instances;		  /* owned; by new node: the most on any stack so far */
	uint32_t *path;			  /* owned; scratch */
	size_t instances_cap, path_cap;
};

/* Call ctx_restack_deinit in any case. */
CTX_MUST_CHECK enum ctx_status ctx_restack_init(struct ctx_restack *restack, const struct ctx_trie *from,
						const struct ctx_restack_rules *rules, struct ctx_err *err);
void ctx_restack_deinit(struct ctx_restack *restack);

/* The new node of an old stack; UINT32_MAX: it is dropped. O(new nodes on the way * depth of the new tree). */
CTX_MUST_CHECK enum ctx_status ctx_restack_find(struct ctx_restack *restack, uint32_t stack,
						uint32_t *ret_node, struct ctx_err *err);

/* Adds a histogram by old stacks to one by new nodes, without what is dropped. */
CTX_MUST_CHECK enum ctx_status ctx_restack_histogram(struct ctx_restack *restack,
						     const struct ctx_histogram *from,
						     struct ctx_histogram *to, struct ctx_err *err);

#endif
