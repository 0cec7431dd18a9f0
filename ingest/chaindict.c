#include "ingest/chaindict.h"

#include "base/mem.h"
#include "base/xxh.h"

#include <string.h>

#define FIRST_CAP 64u

struct hash {
	uint64_t low;
	uint32_t high;
};

void ctx_chaindict_deinit(struct ctx_chaindict *dict)
{
	free(dict->slots);
	free(dict->addresses);
	free(dict->nodes);
	free(dict->path);
	*dict = (struct ctx_chaindict){0};
}

/* Forgets what may no longer be so. */
static void forget(struct ctx_chaindict *dict)
{
	if (dict->cap != 0)
		memset(dict->slots, 0xff, dict->cap * sizeof(*dict->slots));
	dict->n = dict->n_last = 0;
}

/* The slot of the chain, or the free one where it would go. */
static struct ctx_chain_slot *find(const struct ctx_chaindict *dict, const struct hash *hash)
{
	size_t i = hash->low & (dict->cap - 1);

	while (dict->slots[i].raw != CTX_MAP64_NONE &&
	       (dict->slots[i].hash != hash->low || dict->slots[i].more_hash != hash->high))
		i = (i + 1) & (dict->cap - 1);
	return &dict->slots[i];
}

static enum ctx_status grow(struct ctx_chaindict *dict, struct ctx_err *err)
{
	struct ctx_chaindict bigger = {.cap = dict->cap != 0 ? dict->cap * 2 : FIRST_CAP};

	bigger.slots = ctx_calloc(bigger.cap, sizeof(*bigger.slots));
	if (bigger.slots == NULL)
		return ctx_err_nomem(err);
	memset(bigger.slots, 0xff, bigger.cap * sizeof(*bigger.slots));
	for (size_t i = 0; i < dict->cap; i++) {
		const struct ctx_chain_slot *slot = &dict->slots[i];
		struct hash hash = {slot->hash, slot->more_hash};

		if (slot->raw != CTX_MAP64_NONE)
			*find(&bigger, &hash) = *slot;
	}
	free(dict->slots);
	dict->slots = bigger.slots;
	dict->cap = bigger.cap;
	return CTX_OK;
}

/* The frames that a new chain has in common with the last new one, from the root. */
static size_t common_frames(const struct ctx_chaindict *dict, const uint64_t *frames, size_t n)
{
	size_t max = n < dict->n_last ? n : dict->n_last, i = 0;

	while (i < max && dict->addresses[i] == frames[n - 1 - i])
		i++;
	return i;
}

/* Interns a chain that is new, and keeps its path for the next one. */
static enum ctx_status intern(struct ctx_chaindict *dict, const uint64_t *frames, size_t n,
			      const struct ctx_spaces *spaces, struct ctx_resolver *resolver,
			      struct ctx_stack_forest *forest, uint32_t *ret_raw, struct ctx_err *err)
{
	size_t kept = common_frames(dict, frames, n);
	enum ctx_status status = ctx_grow(&dict->addresses, &dict->addresses_cap, n, err);
	uint32_t raw = kept != 0 ? dict->nodes[kept - 1] : CTX_TRIE_ROOT;

	if (status == CTX_OK)
		status = ctx_grow(&dict->nodes, &dict->nodes_cap, n, err);
	if (status == CTX_OK)
		status = ctx_grow(&dict->path, &dict->path_cap, n, err);
	dict->n_last = kept;
	for (size_t i = kept; status == CTX_OK && i < n; i++) {
		dict->addresses[i] = frames[n - 1 - i];
		status = ctx_stack_locate(spaces, resolver, dict->addresses[i], &dict->path[i], err);
	}
	if (status == CTX_OK && kept < n)
		status = ctx_stack_forest_add(forest, raw, dict->path + kept, n - kept, resolver,
					      dict->nodes + kept, err);
	if (status != CTX_OK)
		return status;
	dict->n_last = n;
	*ret_raw = n != 0 ? dict->nodes[n - 1] : CTX_TRIE_ROOT;
	return CTX_OK;
}

enum ctx_status ctx_chaindict_resolve(struct ctx_chaindict *dict, const uint64_t *frames, size_t n,
				      const struct ctx_spaces *spaces, struct ctx_resolver *resolver,
				      struct ctx_stack_forest *forest, uint32_t *ret_raw, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	struct ctx_chain_slot *slot;
	uint64_t high;
	struct hash hash;

	if (dict->generation != spaces->process->generation ||
	    dict->kernel_generation != spaces->kernel->generation) {
		forget(dict);
		dict->generation = spaces->process->generation;
		dict->kernel_generation = spaces->kernel->generation;
	}
	if (dict->n * 8 >= dict->cap * 5)
		status = grow(dict, err);
	if (status != CTX_OK)
		return status;
	hash.low = ctx_xxh3_128(frames, n * sizeof(*frames), &high);
	hash.high = (uint32_t)high;
	slot = find(dict, &hash);
	if (slot->raw == CTX_MAP64_NONE) {
		uint32_t raw = 0;

		status = intern(dict, frames, n, spaces, resolver, forest, &raw, err);
		if (status != CTX_OK)
			return status;
		*slot = (struct ctx_chain_slot){hash.low, hash.high, raw};
		dict->n++;
	}
	*ret_raw = slot->raw;
	return CTX_OK;
}
