#include "runtime/rt_call_tree.h"

#define COUNTED_MAX 16384u
#define LIKELY(condition) __builtin_expect((condition), 1)

/* Memory */

struct sizes {
	size_t nodes, counted, steps; /* how many */
	size_t bytes[5], all;
};

static size_t round_up(size_t bytes)
{
	return (bytes + 4095) & ~(size_t)4095;
}

/* Nodes for what is pruned may exceed the bound, by a quarter of it. */
static struct sizes sizes_of(uint64_t limit)
{
	struct sizes sizes = {.nodes = (size_t)((limit + limit / 4) / sizeof(struct ctx_rt_node)) + 2,
			      .counted = COUNTED_MAX,
			      .steps = (size_t)(limit / sizeof(struct ctx_rt_steps)) + 2};

	sizes.bytes[0] = round_up(sizes.nodes * sizeof(struct ctx_rt_node));
	sizes.bytes[1] = round_up(sizes.counted * sizeof(struct ctx_rt_counted));
	sizes.bytes[2] = round_up(sizes.steps * sizeof(struct ctx_rt_steps));
	sizes.bytes[3] = round_up(CTX_RT_CALLEES * sizeof(uint32_t));
	sizes.bytes[4] = round_up(2 * sizes.counted * sizeof(uint32_t));
	for (unsigned i = 0; i < 5; i++)
		sizes.all += sizes.bytes[i];
	return sizes;
}

size_t ctx_rt_tree_bytes(uint64_t limit)
{
	return sizes_of(limit).all;
}

void ctx_rt_tree_init(struct ctx_rt_tree *tree, void *bytes, struct ctx_rt_tree_memory *memory)
{
	struct sizes sizes = sizes_of(memory->limit);
	uint8_t *at = bytes;

	tree->nodes = (struct ctx_rt_node *)(void *)at;
	at += sizes.bytes[0];
	tree->counted = (struct ctx_rt_counted *)(void *)at;
	at += sizes.bytes[1];
	tree->steps = (struct ctx_rt_steps *)(void *)at;
	at += sizes.bytes[2];
	tree->callees = (uint32_t *)(void *)at;
	at += sizes.bytes[3];
	tree->slots = (uint32_t *)(void *)at;
	tree->memory = memory;
	tree->cap_nodes = (uint32_t)sizes.nodes;
	tree->cap_counted = (uint32_t)sizes.counted;
	tree->cap_steps = (uint32_t)sizes.steps;
	tree->n_nodes = tree->n_counted = tree->n_steps = 1;
	tree->free_node = tree->current = tree->works = 0;
	tree->used = tree->uncounted = tree->n_pruned = 0;
}

/* False: the bound is reached. `beyond`: it does not count. */
static bool take(struct ctx_rt_tree *tree, uint64_t bytes, bool beyond)
{
	uint64_t limit = tree->memory->limit;

	if (!beyond && atomic_load_explicit(&tree->memory->used, memory_order_relaxed) + bytes > limit)
		return false;
	atomic_fetch_add_explicit(&tree->memory->used, bytes, memory_order_relaxed);
	tree->used += bytes;
	return true;
}

static void give_back(struct ctx_rt_tree *tree, uint64_t bytes)
{
	atomic_fetch_sub_explicit(&tree->memory->used, bytes, memory_order_relaxed);
	tree->used -= bytes;
}

/* One by one: the compiler must not make a call of it where hooks run. */
static void zero(uint32_t *at, size_t n)
{
	for (size_t i = 0; i < n; i++)
		((volatile uint32_t *)at)[i] = 0;
}

void ctx_rt_tree_clear(struct ctx_rt_tree *tree)
{
	zero((uint32_t *)(void *)tree->nodes, tree->n_nodes * sizeof(*tree->nodes) / 4);
	zero((uint32_t *)(void *)tree->counted, tree->n_counted * sizeof(*tree->counted) / 4);
	zero((uint32_t *)(void *)tree->steps, tree->n_steps * sizeof(*tree->steps) / 4);
	zero(tree->callees, CTX_RT_CALLEES);
	zero(tree->slots, (size_t)2 * tree->cap_counted);
	give_back(tree, tree->used);
	tree->n_nodes = tree->n_counted = tree->n_steps = 1;
	tree->free_node = tree->current = tree->works = 0;
}

/* Durations */

static inline uint32_t slot_of(const struct ctx_rt_tree *tree, uint64_t function)
{
	uint32_t mask = 2 * tree->cap_counted - 1;
	uint32_t i = (uint32_t)(function * UINT64_C(0x9e3779b97f4a7c15) >> 40) & mask;

	while (tree->slots[i] != 0 && tree->counted[tree->slots[i]].function != function)
		i = (i + 1) & mask;
	return i;
}

/* 0: there is no memory, or it is no function. */
static uint32_t counted_of(struct ctx_rt_tree *tree, uint64_t function)
{
	uint32_t slot = slot_of(tree, function);

	if (tree->slots[slot] != 0 || function == CTX_RT_PRUNED)
		return tree->slots[slot];
	if (tree->n_counted >= tree->cap_counted || !take(tree, sizeof(struct ctx_rt_counted), false))
		return 0;
	tree->counted[tree->n_counted].function = function;
	tree->counted[tree->n_counted].least = UINT64_MAX;
	tree->slots[slot] = tree->n_counted;
	return tree->n_counted++;
}

/* The steps of a power; 0: there is no memory. */
static uint32_t steps_of(struct ctx_rt_tree *tree, struct ctx_rt_counted *counted, uint32_t power)
{
	if (counted->powers[power] == 0 && tree->n_steps < tree->cap_steps &&
	    take(tree, sizeof(struct ctx_rt_steps), false))
		counted->powers[power] = tree->n_steps++;
	return counted->powers[power];
}

CTX_RT_TREE_KEEPS void ctx_rt_tree_count_slow(struct ctx_rt_tree *tree, uint64_t function, uint64_t ticks)
{
	uint32_t number = counted_of(tree, function), power, step, steps;
	struct ctx_rt_counted *counted = &tree->counted[number];

	if (number == 0)
		return;
	ctx_rt_step_of(ticks, &power, &step);
	steps = steps_of(tree, counted, power);
	counted->calls++;
	counted->least = ticks < counted->least ? ticks : counted->least;
	counted->most = ticks > counted->most ? ticks : counted->most;
	if (steps != 0) {
		tree->steps[steps].calls[step]++;
	} else {
		counted->rest++;
		counted->rest_ticks += ticks;
	}
}

/* Nodes */

static void link(struct ctx_rt_tree *tree, uint32_t parent, uint32_t node)
{
	tree->nodes[node].parent = parent;
	tree->nodes[node].next = tree->nodes[parent].child;
	atomic_signal_fence(memory_order_seq_cst); /* whoever interrupts this finds a list */
	tree->nodes[parent].child = node;
}

static void unlink(struct ctx_rt_tree *tree, uint32_t node)
{
	uint32_t *at = &tree->nodes[tree->nodes[node].parent].child;

	while (*at != node)
		at = &tree->nodes[*at].next;
	*at = tree->nodes[node].next;
}

/* `beyond`: also beyond the bound. 0: there is no memory. */
static uint32_t make(struct ctx_rt_tree *tree, uint32_t parent, uint64_t function, bool beyond)
{
	uint32_t node = tree->free_node;
	struct ctx_rt_node *made;

	if ((node == 0 && tree->n_nodes >= tree->cap_nodes) || !take(tree, sizeof(*made), beyond))
		return 0;
	if (node != 0)
		tree->free_node = tree->nodes[node].next;
	else
		node = tree->n_nodes++;
	made = &tree->nodes[node];
	made->function = function;
	made->calls = made->ticks = made->all_ticks = 0;
	made->child = made->flags = 0;
	made->counted = counted_of(tree, function);
	link(tree, parent, node);
	return node;
}

static void free_node(struct ctx_rt_tree *tree, uint32_t node)
{
	tree->nodes[node].function = 0;
	tree->nodes[node].parent = 0;
	tree->nodes[node].next = tree->free_node;
	tree->free_node = node;
	give_back(tree, sizeof(struct ctx_rt_node));
}

static uint32_t find_child(const struct ctx_rt_tree *tree, uint32_t parent, uint64_t function)
{
	uint32_t node = tree->nodes[parent].child;

	while (node != 0 && tree->nodes[node].function != function)
		node = tree->nodes[node].next;
	return node;
}

CTX_RT_TREE_KEEPS uint32_t ctx_rt_tree_find(struct ctx_rt_tree *tree, uint64_t function)
{
	uint32_t caller = tree->current, node;

	if (tree->nodes[caller].function == CTX_RT_PRUNED)
		return caller;
	node = find_child(tree, caller, function);
	if (node == 0)
		node = make(tree, caller, function, false);
	if (LIKELY(node != 0)) {
		tree->callees[ctx_rt_callee_slot(caller, function)] = node;
		return node;
	}
	node = find_child(tree, caller, CTX_RT_PRUNED);
	if (node == 0)
		node = make(tree, caller, CTX_RT_PRUNED, true);
	tree->uncounted += node == 0;
	return node != 0 ? node : caller;
}

/* Pruning */

struct sum {
	uint64_t calls, ticks;
};

/* Frees what is below a node, deepest first; what it has is summed. */
static struct sum free_below(struct ctx_rt_tree *tree, uint32_t top)
{
	struct sum sum = {0};
	uint32_t node = top;

	for (;;) {
		uint32_t next, parent;

		while (tree->nodes[node].child != 0)
			node = tree->nodes[node].child;
		if (node == top)
			return sum;
		next = tree->nodes[node].next;
		parent = tree->nodes[node].parent;
		sum.calls += tree->nodes[node].calls;
		sum.ticks += tree->nodes[node].ticks;
		tree->n_pruned += tree->nodes[node].function != CTX_RT_PRUNED;
		tree->nodes[parent].child = next;
		free_node(tree, node);
		node = next != 0 ? next : parent;
	}
}

CTX_RT_TREE_KEEPS void ctx_rt_tree_prune(struct ctx_rt_tree *tree, uint32_t node)
{
	struct ctx_rt_node *nodes = tree->nodes;
	uint32_t pruned = find_child(tree, nodes[node].parent, CTX_RT_PRUNED);
	struct sum sum;

	tree->works = 1;
	atomic_signal_fence(memory_order_seq_cst);
	sum = free_below(tree, node);
	sum.calls += nodes[node].calls;
	sum.ticks += nodes[node].ticks;
	tree->n_pruned++;
	if (pruned == 0) {
		pruned = node;
		nodes[node].function = CTX_RT_PRUNED;
		nodes[node].counted = 0;
		nodes[node].calls = nodes[node].ticks = 0;
	} else {
		nodes[pruned].all_ticks += nodes[node].all_ticks;
		unlink(tree, node);
		free_node(tree, node);
	}
	nodes[pruned].calls += sum.calls;
	nodes[pruned].ticks += sum.ticks;
	atomic_signal_fence(memory_order_seq_cst);
	tree->works = 0;
}

/* The node behind one in depth-first order, not below it; 0: none. */
static uint32_t behind(const struct ctx_rt_tree *tree, uint32_t node)
{
	while (node != 0 && tree->nodes[node].next == 0)
		node = tree->nodes[node].parent;
	return node != 0 ? tree->nodes[node].next : 0;
}

void ctx_rt_tree_sweep(struct ctx_rt_tree *tree, uint64_t root_ticks)
{
	uint32_t node = tree->nodes[0].child;

	while (node != 0) {
		const struct ctx_rt_node *it = &tree->nodes[node];
		uint64_t around = it->parent == 0 ? root_ticks : tree->nodes[it->parent].all_ticks;
		uint32_t next;

		if ((it->flags & CTX_RT_NODE_OPEN) != 0 || it->function == CTX_RT_PRUNED ||
		    !ctx_rt_tree_is_small(tree, it->all_ticks, around)) {
			node = it->child != 0 ? it->child : behind(tree, node);
			continue;
		}
		next = behind(tree, node);
		ctx_rt_tree_prune(tree, node);
		node = next;
	}
}

/* Writing */

void ctx_rt_tree_mark(struct ctx_rt_tree *tree)
{
	for (uint32_t i = 0; i < tree->n_nodes; i++)
		tree->nodes[i].flags &= ~(uint32_t)CTX_RT_NODE_MARKED;
	for (uint32_t i = 1; i < tree->n_nodes; i++) {
		uint32_t node = i;

		if (tree->nodes[i].function == 0 || (tree->nodes[i].calls | tree->nodes[i].ticks) == 0)
			continue;
		for (; node != 0 && (tree->nodes[node].flags & CTX_RT_NODE_MARKED) == 0;
		     node = tree->nodes[node].parent)
			tree->nodes[node].flags |= CTX_RT_NODE_MARKED;
	}
}

static uint32_t first_marked(const struct ctx_rt_tree *tree, uint32_t node)
{
	while (node != 0 && (tree->nodes[node].flags & CTX_RT_NODE_MARKED) == 0)
		node = tree->nodes[node].next;
	return node;
}

uint32_t ctx_rt_tree_next(const struct ctx_rt_tree *tree, uint32_t node, uint32_t *ret_up)
{
	uint32_t next = first_marked(tree, tree->nodes[node].child);

	*ret_up = 0;
	while (next == 0 && node != 0) {
		next = first_marked(tree, tree->nodes[node].next);
		node = tree->nodes[node].parent;
		*ret_up += 1;
	}
	return next;
}
