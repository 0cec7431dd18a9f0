#include "model/trie.h"

#include "base/mem.h"

#include <string.h>

static enum ctx_status append(struct ctx_trie *trie, uint32_t parent, uint32_t key, uint32_t depth,
			      struct ctx_err *err)
{
	size_t want = (size_t)trie->n + 1;
	enum ctx_status status = ctx_grow(&trie->parent, &trie->parent_cap, want, err);

	if (status == CTX_OK)
		status = ctx_grow(&trie->key, &trie->key_cap, want, err);
	if (status == CTX_OK)
		status = ctx_grow(&trie->depth, &trie->depth_cap, want, err);
	if (status != CTX_OK)
		return status;
	trie->parent[trie->n] = parent;
	trie->key[trie->n] = key;
	trie->depth[trie->n] = depth;
	trie->n++;
	return CTX_OK;
}

enum ctx_status ctx_trie_init(struct ctx_trie *trie, struct ctx_err *err)
{
	*trie = (struct ctx_trie){0};
	return append(trie, CTX_TRIE_ROOT, CTX_TRIE_ROOT_KEY, 0, err);
}

void ctx_trie_deinit(struct ctx_trie *trie)
{
	free(trie->parent);
	free(trie->key);
	free(trie->depth);
	ctx_map64_deinit(&trie->children);
	*trie = (struct ctx_trie){0};
}

enum ctx_status ctx_trie_child(struct ctx_trie *trie, uint32_t parent, uint32_t key, uint32_t *ret_node,
			       struct ctx_err *err)
{
	uint64_t pair = (uint64_t)parent << 32 | key;
	uint32_t *place = ctx_map64_place(&trie->children, pair);

	if (place == NULL)
		return ctx_err_nomem(err);
	if (*place == CTX_MAP64_NONE) {
		enum ctx_status status;

		if (trie->n >= CTX_MAP64_NONE - 1)
			return ctx_err_set(err, CTX_E_LIMIT, "more than 4 G call stacks");
		status = append(trie, parent, key, trie->depth[parent] + 1, err);
		if (status != CTX_OK)
			return status;
		*place = trie->n - 1;
	}
	*ret_node = *place;
	return CTX_OK;
}

void ctx_trie_freeze(struct ctx_trie *trie)
{
	ctx_map64_deinit(&trie->children);
}

/* NOLINTNEXTLINE(readability-non-const-parameter): both are taken over */
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
