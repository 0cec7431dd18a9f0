#include "query/deepest_call.h"

#include "base/mem.h"

#include <stdlib.h>

void ctx_deepest_call_deinit(struct ctx_deepest_call *deepest)
{
	free(deepest->weight);
	free(deepest->calls);
	free(deepest->nodes);
	free(deepest->seen);
	*deepest = (struct ctx_deepest_call){0};
}

static enum ctx_status prepare(struct ctx_deepest_call *deepest, uint32_t n, struct ctx_err *err)
{
	if (deepest->weight != NULL)
		return CTX_OK;
	deepest->weight = ctx_calloc(n, sizeof(*deepest->weight));
	deepest->calls = ctx_calloc(n, sizeof(*deepest->calls));
	deepest->nodes = ctx_calloc(n, sizeof(*deepest->nodes));
	deepest->seen = ctx_calloc(n, sizeof(*deepest->seen));
	if (deepest->weight != NULL && deepest->calls != NULL && deepest->nodes != NULL &&
	    deepest->seen != NULL)
		return CTX_OK;
	ctx_deepest_call_deinit(deepest);
	return ctx_err_nomem(err);
}

/* Of an entry, to its node and all above it. */
static void add(struct ctx_deepest_call *deepest, const struct ctx_trie *cct,
		const struct ctx_hist_entry *entry)
{
	for (uint32_t node = entry->stack; node != CTX_TRIE_ROOT; node = cct->parent[node]) {
		if (!deepest->seen[node])
			deepest->nodes[deepest->n++] = node;
		deepest->seen[node] = true;
		deepest->weight[node] += entry->weight;
		deepest->calls[node] += entry->calls;
	}
}

enum ctx_status ctx_deepest_call_find(struct ctx_deepest_call *deepest, const struct ctx_trie *cct,
				      const struct ctx_histogram *histogram, uint64_t whole,
				      struct ctx_err *err)
{
	enum ctx_status status = prepare(deepest, cct->n, err);

	if (status != CTX_OK)
		return status;
	deepest->found = CTX_TRIE_ROOT;
	deepest->entered = 0;
	for (size_t i = 0; i < histogram->n; i++)
		add(deepest, cct, &histogram->entries[i]);
	/* Those with more than half are a path, and a callee has a larger number than its caller. */
	for (size_t i = 0; i < deepest->n; i++) {
		uint32_t node = deepest->nodes[i];

		if (deepest->weight[node] > whole - deepest->weight[node] && node > deepest->found)
			deepest->found = node;
	}
	if (deepest->found != CTX_TRIE_ROOT && deepest->calls[deepest->found] > 0)
		deepest->entered = (uint64_t)deepest->calls[deepest->found];
	for (size_t i = 0; i < deepest->n; i++) {
		deepest->weight[deepest->nodes[i]] = 0;
		deepest->calls[deepest->nodes[i]] = 0;
		deepest->seen[deepest->nodes[i]] = false;
	}
	deepest->n = 0;
	return CTX_OK;
}
