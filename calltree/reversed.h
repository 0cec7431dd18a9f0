/*
 * Call stacks upside down: who called a function, merged over all its places.
 *
 *	stack				becomes
 *	main parse malloc		malloc parse main
 *	main parse malloc brk		brk malloc parse main; of the callers of malloc: malloc parse main
 */
#ifndef CTX_CALLTREE_REVERSED_H
#define CTX_CALLTREE_REVERSED_H

#include "model/histogram.h"
#include "model/trie.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_reversed {
	const struct ctx_trie *from;	/* borrowed */
	const bool *of;			/* by key: whose callers; NULL: the leaf's. Borrowed */
	const uint32_t *instances_from; /* by old node; NULL: 1. Borrowed */
	struct ctx_trie to;		/* owned */
	uint32_t *instances;		/* owned; by new node: the most of its old nodes */
	uint32_t *keys, *nodes;		/* owned; scratch */
	size_t n_instances, instances_cap, keys_cap, nodes_cap;
};

/* Call ctx_reversed_deinit in any case; `from` and the arrays are set by the caller. */
CTX_MUST_CHECK enum ctx_status ctx_reversed_init(struct ctx_reversed *reversed, struct ctx_err *err);
void ctx_reversed_deinit(struct ctx_reversed *reversed);

/*
 * Adds a histogram by old stacks to one by new nodes. A stack is reversed from its outermost frame
 * whose key is in `of`, so that each counts once; stacks without one are dropped. Calls are not
 * kept: they have no meaning there. O(entries * depth).
 */
CTX_MUST_CHECK enum ctx_status ctx_reversed_histogram(struct ctx_reversed *reversed,
						      const struct ctx_histogram *from,
						      struct ctx_histogram *to, struct ctx_err *err);

#endif
