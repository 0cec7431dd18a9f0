#include "calltree/reversed.h"

#include "base/mem.h"

#include <stdlib.h>

enum ctx_status ctx_reversed_init(struct ctx_reversed *reversed, struct ctx_err *err)
{
	enum ctx_status status = ctx_trie_init(&reversed->to, err);

	if (status == CTX_OK)
		status = ctx_grow(&reversed->instances, &reversed->instances_cap, 1, err);
	if (status == CTX_OK)
		reversed->instances[reversed->n_instances++] = 1;
	return status;
}

void ctx_reversed_deinit(struct ctx_reversed *reversed)
{
	ctx_trie_deinit(&reversed->to);
	free(reversed->instances);
	free(reversed->keys);
	free(reversed->nodes);
	*reversed = (struct ctx_reversed){0};
}

/* The old node that the new stack begins with; the root: none. */
static uint32_t find_begin(const struct ctx_reversed *reversed, uint32_t stack)
{
	uint32_t begin = CTX_TRIE_ROOT;

	if (reversed->of == NULL)
		return stack;
	for (uint32_t at = stack; at != CTX_TRIE_ROOT; at = reversed->from->parent[at]) {
		if (reversed->of[reversed->from->key[at]])
			begin = at;
	}
	return begin;
}

static enum ctx_status note_instances(struct ctx_reversed *reversed, uint32_t begin, size_t n,
				      struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&reversed->instances, &reversed->instances_cap, reversed->to.n, err);

	if (status != CTX_OK)
		return status;
	while (reversed->n_instances < reversed->to.n)
		reversed->instances[reversed->n_instances++] = 1;
	for (size_t i = 0; i < n; i++, begin = reversed->from->parent[begin]) {
		uint32_t *most = &reversed->instances[reversed->nodes[i]];
		uint32_t instances = reversed->instances_from != NULL ? reversed->instances_from[begin] : 1;

		*most = *most > instances ? *most : instances;
	}
	return CTX_OK;
}

/* The new node of the stack that begins with `begin`. */
static enum ctx_status reverse(struct ctx_reversed *reversed, uint32_t begin, uint32_t *ret,
			       struct ctx_err *err)
{
	size_t n = reversed->from->depth[begin], i = 0;
	enum ctx_status status = ctx_grow(&reversed->keys, &reversed->keys_cap, n, err);

	if (status == CTX_OK)
		status = ctx_grow(&reversed->nodes, &reversed->nodes_cap, n, err);
	if (status != CTX_OK)
		return status;
	for (uint32_t at = begin; at != CTX_TRIE_ROOT; at = reversed->from->parent[at])
		reversed->keys[i++] = reversed->from->key[at];
	status = ctx_trie_path(&reversed->to, CTX_TRIE_ROOT, (struct ctx_trie_keys){reversed->keys, n},
			       reversed->nodes, err);
	if (status == CTX_OK)
		status = note_instances(reversed, begin, n, err);
	if (status == CTX_OK)
		*ret = n != 0 ? reversed->nodes[n - 1] : CTX_TRIE_ROOT;
	return status;
}

enum ctx_status ctx_reversed_histogram(struct ctx_reversed *reversed, const struct ctx_histogram *from,
				       struct ctx_histogram *to, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < from->n && status == CTX_OK; i++) {
		struct ctx_hist_entry entry = from->entries[i];
		uint32_t begin;

		if (entry.stack >= reversed->from->n)
			return ctx_err_set(err, CTX_E_ARG, "no call stack %u: there are %u", entry.stack,
					   reversed->from->n);
		begin = find_begin(reversed, entry.stack);
		if ((entry.samples == 0 && entry.weight == 0) ||
		    (begin == CTX_TRIE_ROOT && reversed->of != NULL))
			continue;
		entry.calls = 0;
		status = reverse(reversed, begin, &entry.stack, err);
		if (status == CTX_OK)
			status = ctx_histogram_add(to, entry, err);
	}
	return status;
}
