#include "model/trie.h"

#include "base/mem.h"

#include <string.h>

#define NODES_MAX (UINT32_MAX - 1)
#define FIRST_SLOTS 64u
#define FREE UINT64_MAX
#define ASKED_FOR_AT_ONCE 32u /* slots; about as many cache misses as a processor can overlap */

/* The hash of a path, from the hash of its parent. That of the root is 0, and key 0 must change it. */
static uint64_t extend(uint64_t hash, uint32_t key)
{
	hash = (hash ^ ((uint64_t)key + 1)) * 0x9e3779b97f4a7c15u;
	return hash ^ hash >> 29;
}

static size_t place_of(const struct ctx_trie *trie, uint64_t hash)
{
	return (size_t)(hash * 0xbf58476d1ce4e5b9u >> trie->shift);
}

static uint64_t slot_of(uint64_t hash, uint32_t node)
{
	return hash << 32 | node;
}

/* All nodes into a table of `cap` slots. */
static enum ctx_status rebuild_index(struct ctx_trie *trie, size_t cap, struct ctx_err *err)
{
	uint64_t *slots = ctx_alloc_large(cap * sizeof(*slots));

	if (slots == NULL)
		return ctx_err_nomem(err);
	memset(slots, 0xff, cap * sizeof(*slots));
	free(trie->slots);
	trie->slots = slots;
	trie->slots_cap = cap;
	trie->shift = 64 - (unsigned)__builtin_ctzll(cap);
	for (uint32_t node = 1; node < trie->n; node++) {
		size_t i = place_of(trie, trie->hash[node]);

		while (slots[i] != FREE)
			i = (i + 1) & (cap - 1);
		slots[i] = slot_of(trie->hash[node], node);
	}
	return CTX_OK;
}

/*
 * As ctx_grow, but with keep_old the replaced array is kept until the end, since views may still
 * read it.
 */
static enum ctx_status grow_kept(struct ctx_trie *trie, uint32_t **items, size_t *cap, size_t want,
				 struct ctx_err *err)
{
	uint32_t *bigger = NULL;
	size_t bigger_cap = 0;
	enum ctx_status status;

	if (want <= *cap)
		return CTX_OK;
	if (!trie->keeps_old || *items == NULL)
		return ctx_grow(items, cap, want, err);
	status = ctx_grow(&trie->old, &trie->old_cap, trie->n_old + 1, err);
	if (status == CTX_OK)
		status = ctx_grow(&bigger, &bigger_cap, want > 2 * *cap ? want : 2 * *cap, err);
	if (status != CTX_OK)
		return status;
	memcpy(bigger, *items, trie->n * sizeof(*bigger));
	trie->old[trie->n_old++] = *items;
	*items = bigger;
	*cap = bigger_cap;
	return CTX_OK;
}

/* Room for `more` nodes, in the index too. */
static enum ctx_status reserve(struct ctx_trie *trie, size_t more, struct ctx_err *err)
{
	size_t want = (size_t)trie->n + more, cap = trie->slots_cap != 0 ? trie->slots_cap : FIRST_SLOTS;
	enum ctx_status status;

	if (want > NODES_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "more than 4 G call stacks");
	status = grow_kept(trie, &trie->parent, &trie->parent_cap, want, err);
	if (status == CTX_OK)
		status = ctx_grow(&trie->key, &trie->key_cap, want, err);
	if (status == CTX_OK)
		status = grow_kept(trie, &trie->depth, &trie->depth_cap, want, err);
	if (status == CTX_OK)
		status = ctx_grow(&trie->hash, &trie->hash_cap, want, err);
	while (want * 8 > cap * 5)
		cap *= 2;
	if (status == CTX_OK && cap != trie->slots_cap)
		status = rebuild_index(trie, cap, err);
	return status;
}

static void append(struct ctx_trie *trie, uint32_t parent, uint32_t key, uint32_t depth, uint64_t hash)
{
	trie->parent[trie->n] = parent;
	trie->key[trie->n] = key;
	trie->depth[trie->n] = depth;
	trie->hash[trie->n] = hash;
	trie->n++;
}

/* Finds or creates the child whose path has this hash; there is room. */
static uint32_t find_or_append(struct ctx_trie *trie, uint32_t parent, uint32_t key, uint64_t hash)
{
	size_t i = place_of(trie, hash);

	for (; trie->slots[i] != FREE; i = (i + 1) & (trie->slots_cap - 1)) {
		uint32_t node = (uint32_t)trie->slots[i];

		if ((uint32_t)(trie->slots[i] >> 32) == (uint32_t)hash && trie->parent[node] == parent &&
		    trie->key[node] == key)
			return node;
	}
	trie->slots[i] = slot_of(hash, trie->n);
	append(trie, parent, key, trie->depth[parent] + 1, hash);
	return trie->n - 1;
}

enum ctx_status ctx_trie_init(struct ctx_trie *trie, struct ctx_err *err)
{
	enum ctx_status status;

	*trie = (struct ctx_trie){0};
	status = reserve(trie, 1, err);
	if (status != CTX_OK) {
		ctx_trie_deinit(trie);
		return status;
	}
	append(trie, CTX_TRIE_ROOT, CTX_TRIE_ROOT_KEY, 0, 0);
	return CTX_OK;
}

void ctx_trie_deinit(struct ctx_trie *trie)
{
	ctx_trie_freeze(trie);
	free(trie->parent);
	free(trie->key);
	free(trie->depth);
	*trie = (struct ctx_trie){0};
}

enum ctx_status ctx_trie_path(struct ctx_trie *trie, uint32_t from, struct ctx_trie_keys path,
			      uint32_t *nodes, struct ctx_err *err)
{
	const uint32_t *keys = path.keys;
	size_t n = path.n;
	enum ctx_status status = reserve(trie, n, err);
	uint64_t hashes[ASKED_FOR_AT_ONCE];
	uint64_t hash;

	if (status != CTX_OK)
		return status;
	hash = trie->hash[from];
	for (size_t at = 0; at < n; at += ASKED_FOR_AT_ONCE) {
		size_t some = n - at < ASKED_FOR_AT_ONCE ? n - at : ASKED_FOR_AT_ONCE;

		for (size_t i = 0; i < some; i++) {
			hash = hashes[i] = extend(hash, keys[at + i]);
			__builtin_prefetch(&trie->slots[place_of(trie, hash)]);
		}
		for (size_t i = 0; i < some; i++)
			nodes[at + i] = from = find_or_append(trie, from, keys[at + i], hashes[i]);
	}
	return CTX_OK;
}

void ctx_trie_keep_old(struct ctx_trie *trie)
{
	trie->keeps_old = true;
}

void ctx_trie_freeze(struct ctx_trie *trie)
{
	while (trie->n_old > 0)
		free(trie->old[--trie->n_old]);
	free(trie->old);
	trie->old = NULL;
	trie->old_cap = 0;
	free(trie->hash);
	free(trie->slots);
	trie->hash = trie->slots = NULL;
	trie->hash_cap = trie->slots_cap = 0;
}

/* NOLINTNEXTLINE(readability-non-const-parameter): takes ownership of both */
enum ctx_status ctx_trie_take(struct ctx_trie *trie, uint32_t *parent, uint32_t *key, uint32_t n,
			      struct ctx_err *err)
{
	*trie = (struct ctx_trie){.parent = parent, .key = key, .n = n};
	trie->depth = n != 0 ? ctx_calloc(n, sizeof(*trie->depth)) : NULL;
	if (n == 0 || trie->depth == NULL) {
		ctx_trie_deinit(trie);
		return n == 0 ? ctx_err_set(err, CTX_E_FORMAT, "call stacks without a root")
			      : ctx_err_nomem(err);
	}
	parent[0] = CTX_TRIE_ROOT;
	for (uint32_t i = 1; i < n; i++) {
		if (parent[i] >= i) {
			ctx_trie_deinit(trie);
			return ctx_err_set(err, CTX_E_FORMAT,
					   "call stack %u has the later stack as its parent", i);
		}
		trie->depth[i] = trie->depth[parent[i]] + 1;
	}
	return CTX_OK;
}

uint32_t ctx_trie_common_ancestor(const struct ctx_trie *trie, uint32_t a, uint32_t b)
{
	while (a != b) {
		if (a > b)
			a = trie->parent[a];
		else
			b = trie->parent[b];
	}
	return a;
}
