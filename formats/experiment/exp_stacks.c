#include "formats/experiment/exp_stacks.h"

#include "base/map64.h"
#include "base/mem.h"

#include <string.h>

#define FIRST_NODES 64u

void ctx_exp_stacks_deinit(struct ctx_exp_stacks *stacks)
{
	free(stacks->nodes);
	free(stacks->slots);
	*stacks = (struct ctx_exp_stacks){0};
}

size_t ctx_exp_stacks_bytes(const struct ctx_exp_stacks *stacks)
{
	return stacks->cap * sizeof(*stacks->nodes) + stacks->slots_cap * sizeof(*stacks->slots);
}

/* Capacity for `want` nodes; there are twice as many slots. */
static size_t capacity_for(const struct ctx_exp_stacks *stacks, size_t want)
{
	size_t cap = stacks->cap != 0 ? stacks->cap : FIRST_NODES;

	while (cap < want)
		cap *= 2;
	return cap;
}

static size_t wanted(const struct ctx_exp_stacks *stacks, size_t extra)
{
	return (stacks->n != 0 ? stacks->n : 1) + extra;
}

size_t ctx_exp_stacks_growth(const struct ctx_exp_stacks *stacks, size_t extra)
{
	size_t cap;

	if (stacks->cap != 0 && wanted(stacks, extra) <= stacks->cap)
		return 0;
	cap = capacity_for(stacks, wanted(stacks, extra));
	return cap * sizeof(*stacks->nodes) + 2 * cap * sizeof(*stacks->slots);
}

static inline size_t slot_of(const struct ctx_exp_stacks *stacks, uint32_t parent, uint64_t address)
{
	uint64_t hash = ctx_hash64(address + (uint64_t)parent * 0x9e3779b97f4a7c15u);

	return (size_t)(hash >> 20) & (stacks->slots_cap - 1);
}

static void fill_slots(struct ctx_exp_stacks *stacks)
{
	memset(stacks->slots, 0, stacks->slots_cap * sizeof(*stacks->slots));
	for (uint32_t id = 1; id < stacks->n; id++) {
		size_t i = slot_of(stacks, stacks->nodes[id].parent, stacks->nodes[id].address);

		while (stacks->slots[i] != 0)
			i = (i + 1) & (stacks->slots_cap - 1);
		stacks->slots[i] = id;
	}
}

enum ctx_status ctx_exp_stacks_reserve(struct ctx_exp_stacks *stacks, size_t extra, struct ctx_err *err)
{
	struct ctx_exp_stack_node *nodes;
	uint32_t *slots;
	size_t cap;

	if (ctx_exp_stacks_growth(stacks, extra) == 0)
		return CTX_OK;
	if (extra > UINT32_MAX / 4 || wanted(stacks, extra) > UINT32_MAX / 4)
		return ctx_err_set(err, CTX_E_LIMIT, "more than %u call stacks", UINT32_MAX / 4);
	cap = capacity_for(stacks, wanted(stacks, extra));
	slots = ctx_calloc(2 * cap, sizeof(*slots));
	nodes = slots != NULL ? realloc(stacks->nodes, cap * sizeof(*nodes)) : NULL;
	if (nodes == NULL) {
		free(slots);
		return ctx_err_nomem(err);
	}
	free(stacks->slots);
	stacks->slots = slots;
	stacks->slots_cap = 2 * cap;
	stacks->nodes = nodes;
	stacks->cap = cap;
	if (stacks->n == 0) {
		nodes[0] = (struct ctx_exp_stack_node){0};
		stacks->n = 1;
	}
	fill_slots(stacks);
	return CTX_OK;
}

/* The deepest ancestor of `like` that is a prefix (from the root) of the stack. */
static uint32_t shared_prefix(const struct ctx_exp_stacks *stacks, const uint64_t *frames, size_t n,
			      uint32_t like)
{
	const struct ctx_exp_stack_node *nodes = stacks->nodes;
	uint32_t shared;

	while (nodes[like].depth > n)
		like = nodes[like].parent;
	shared = like;
	for (; like != 0; like = nodes[like].parent) {
		if (nodes[like].address != frames[n - nodes[like].depth])
			shared = nodes[like].parent;
	}
	return shared;
}

static uint32_t child(struct ctx_exp_stacks *stacks, uint32_t parent, uint64_t address)
{
	size_t i = slot_of(stacks, parent, address);
	uint32_t id;

	for (; stacks->slots[i] != 0; i = (i + 1) & (stacks->slots_cap - 1)) {
		const struct ctx_exp_stack_node *node = &stacks->nodes[stacks->slots[i]];

		if (node->address == address && node->parent == parent)
			return stacks->slots[i];
	}
	id = (uint32_t)stacks->n++;
	stacks->slots[i] = id;
	stacks->nodes[id] = (struct ctx_exp_stack_node){address, parent, stacks->nodes[parent].depth + 1};
	return id;
}

uint32_t ctx_exp_stacks_intern(struct ctx_exp_stacks *stacks, const uint64_t *frames, size_t n, uint32_t like,
			       uint32_t *ret_prefix)
{
	uint32_t node = shared_prefix(stacks, frames, n, like);
	size_t before = stacks->n;

	*ret_prefix = 0;
	for (size_t depth = stacks->nodes[node].depth; depth < n; depth++) {
		if (stacks->n == before)
			*ret_prefix = node;
		node = child(stacks, node, frames[n - depth - 1]);
	}
	return node;
}
