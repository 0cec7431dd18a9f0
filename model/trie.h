/*
 * Prefix tree of call stacks. One struct, two uses:
 *
 *  - the calling-context tree (CCT): key = function id; node = a function-level call stack, its "stack id"
 *  - the raw stacks: key = location id (an address in a load object); node = an address-level call stack
 *
 * Node 0 is the root, the empty stack, shown as <Total>; its key is CTX_TRIE_ROOT_KEY. Ids are
 * dense, in order of first appearance, and a parent's id is always smaller than its children's: a
 * sweep from the last node to the first adds up subtrees, a forward sweep propagates from parents
 * to children.
 *
 *	root(0) -- main(1) -- parse(2) -- read(3)
 *	               `----- solve(4)
 *
 * While it is being built, an index finds the node of a path by a hash over all keys of the path.
 * So the slots of a whole path are known before any of them is read, and ctx_trie_path prefetches
 * them all: with millions of nodes the time is spent waiting for memory, not on arithmetic.
 *
 * Cost: 12 bytes a node, and 8 + 8 / 0.6 for the index while it is being built.
 */
#ifndef CTX_MODEL_TRIE_H
#define CTX_MODEL_TRIE_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define CTX_TRIE_ROOT 0u
#define CTX_TRIE_ROOT_KEY UINT32_MAX

struct ctx_trie {
	uint32_t *parent; /* parent[0] == 0 */
	uint32_t *key;	  /* key[0] == CTX_TRIE_ROOT_KEY */
	uint32_t *depth;  /* depth[0] == 0 */
	uint32_t n;	  /* nodes, the root included */
	size_t parent_cap, key_cap, depth_cap;
	/* The index; empty after ctx_trie_freeze or ctx_trie_take. */
	uint64_t *hash;	 /* by node: of its path */
	uint64_t *slots; /* open addressing: a part of the hash << 32 | node; UINT64_MAX free */
	size_t hash_cap, slots_cap;
	unsigned shift; /* 64 - log2(slots_cap) */
	bool keeps_old;
	void **old; /* owned; replaced arrays */
	size_t n_old, old_cap;
};

struct ctx_trie_keys {
	const uint32_t *keys; /* borrowed */
	size_t n;
};

/* Initialises a tree with the root only. */
CTX_MUST_CHECK enum ctx_status ctx_trie_init(struct ctx_trie *trie, struct ctx_err *err);
void ctx_trie_deinit(struct ctx_trie *trie);

/*
 * Finds or creates the nodes of a path below `from`; `nodes` gets one for each key, in order. O(n),
 * and much faster than n times ctx_trie_child when the tree is larger than the processor's caches.
 * Fails with CTX_E_NOMEM, CTX_E_LIMIT; some nodes may exist then.
 */
CTX_MUST_CHECK enum ctx_status ctx_trie_path(struct ctx_trie *trie, uint32_t from, struct ctx_trie_keys path,
					     uint32_t *nodes, struct ctx_err *err);

/* The same for one child of `parent`. O(1). */
CTX_MUST_CHECK static inline enum ctx_status ctx_trie_child(struct ctx_trie *trie, uint32_t parent,
							    uint32_t key, uint32_t *ret_node,
							    struct ctx_err *err)
{
	return ctx_trie_path(trie, parent, (struct ctx_trie_keys){&key, 1}, ret_node, err);
}

/*
 * From now on replaced arrays `parent` and `depth` stay valid until the tree is frozen or released:
 * a copy of the struct is a view that another thread may read while this one adds nodes. Costs as
 * much memory again as these two arrays.
 */
void ctx_trie_keep_old(struct ctx_trie *trie);

/* Releases the index: no more ctx_trie_child and ctx_trie_path, all other functions still work. */
void ctx_trie_freeze(struct ctx_trie *trie);

/*
 * Creates a frozen trie from `n` nodes' parents and keys (as read from a database); takes ownership
 * of the arrays (free()d by deinit, also on failure). Checks parent < node for every node;
 * CTX_E_FORMAT otherwise.
 */
CTX_MUST_CHECK enum ctx_status ctx_trie_take(struct ctx_trie *trie, uint32_t *parent, uint32_t *key,
					     uint32_t n, struct ctx_err *err);

/* The ancestor of `node` at `depth` (at most the node's own). O(difference). */
static inline uint32_t ctx_trie_ancestor(const struct ctx_trie *trie, uint32_t node, uint32_t depth)
{
	while (trie->depth[node] > depth)
		node = trie->parent[node];
	return node;
}

/* The deepest common ancestor. O(depth). */
uint32_t ctx_trie_common_ancestor(const struct ctx_trie *trie, uint32_t a, uint32_t b);

#endif
