/*
 * The call tree of a thread, built where it runs: for each path of calls how often it was entered and the ticks spent in it, since it
 * was written last; for each function how long its calls took.
 *
 *	enter, leave --> nodes, durations --once a second--> rows, in depth-first order (rt_calls_sums.h)
 *	                   `-- small ones, where memory is short --> <Pruned> of their parent
 *
 * Memory is bounded: of all trees of a process together by struct ctx_rt_tree_memory. Beyond three quarters of the bound a node goes when it
 * is left and its ticks, with all below, are less than a share of its parent's; the same for all nodes that are not open when the tree is
 * written (ctx_rt_tree_sweep). What it and those below have that is not written yet goes to the child CTX_RT_PRUNED of its parent,
 * so sums over a subtree never change. At the bound there are no new nodes but these.
 *
 * Durations are counted in steps of 1/64 of a power of two, so the middle of a step is wrong by less than 0.8 %.
 *
 * All of it runs with integer registers alone. CTX_RT_IN_HOOK: and keeps them all.
 */
#ifndef CTX_RUNTIME_RT_CALL_TREE_H
#define CTX_RUNTIME_RT_CALL_TREE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(CTX_RT_IN_HOOK) && defined(__x86_64__)
#define CTX_RT_TREE_KEEPS __attribute__((no_caller_saved_registers))
#else
#define CTX_RT_TREE_KEEPS
#endif

#define CTX_RT_PRUNED 1u /* as a function: what was pruned */
#define CTX_RT_STEP_BITS 6u
#define CTX_RT_STEPS (1u << CTX_RT_STEP_BITS) /* of a power of two */
#define CTX_RT_POWERS (65u - CTX_RT_STEP_BITS)
#define CTX_RT_CALLEES 4096u /* remembered; a power of two */
#define CTX_RT_SHARE_ONE 65536u

enum ctx_rt_node_flag {
	CTX_RT_NODE_OPEN = 1,	/* while the tree is swept */
	CTX_RT_NODE_MARKED = 2, /* it, or one below, is to be written */
};

struct ctx_rt_node {
	_Alignas(64) uint64_t function; /* an address in it; CTX_RT_PRUNED; 0: the node is free */
	uint64_t calls, ticks;		/* not written yet */
	uint64_t all_ticks;		/* of the calls that have ended, with all below */
	uint32_t parent, child, next;	/* 0: none; of a free node: the next free one */
	uint32_t counted;		/* durations of its function; 0: none */
	uint32_t flags;			/* of enum ctx_rt_node_flag */
};

/* The durations of a function's calls that are not written yet. */
struct ctx_rt_counted {
	uint64_t function;
	uint64_t calls, least, most;	/* the latter in ticks */
	uint64_t rest, rest_ticks;	/* of calls for which there was no memory */
	uint32_t powers[CTX_RT_POWERS]; /* number of the steps of each power of two; 0: none */
};

struct ctx_rt_steps {
	uint32_t calls[CTX_RT_STEPS];
};

/* Of all trees of a process. */
struct ctx_rt_tree_memory {
	_Atomic uint64_t used;
	uint64_t limit;
	uint32_t share; /* of CTX_RT_SHARE_ONE: nodes with less of their parent are pruned */
};

/* Numbers are indices of the tables; 0 is none, and of nodes the root, which is no call. */
struct ctx_rt_tree {
	struct ctx_rt_node *nodes;
	struct ctx_rt_counted *counted;
	struct ctx_rt_steps *steps;
	uint32_t *callees; /* nodes that were called before, by hash of caller and function */
	uint32_t *slots;   /* of counted, by hash of the function; twice as many */
	struct ctx_rt_tree_memory *memory;
	uint32_t n_nodes, cap_nodes, free_node;
	uint32_t n_counted, cap_counted; /* a power of two */
	uint32_t n_steps, cap_steps;
	uint32_t current;   /* the node of the innermost open call */
	uint32_t works;	    /* nodes are being unlinked: it may not be used */
	uint64_t used;	    /* of memory->used */
	uint64_t uncounted; /* calls for which there was not even a <Pruned> */
	uint64_t n_pruned;  /* nodes that went */
};

/* Bytes of memory for a tree within a bound; most of it is never touched. */
size_t ctx_rt_tree_bytes(uint64_t limit);

/* In memory of that many zero bytes, aligned to a page. */
void ctx_rt_tree_init(struct ctx_rt_tree *tree, void *bytes, struct ctx_rt_tree_memory *memory);

/* Forgets all that is not written, and all nodes. Of its memory nothing is given back. */
void ctx_rt_tree_clear(struct ctx_rt_tree *tree);

/* The child of the current node for a function, made if needed; or what stands for it: <Pruned>, or the current node. */
CTX_RT_TREE_KEEPS uint32_t ctx_rt_tree_find(struct ctx_rt_tree *tree, uint64_t function);

/* A call of a function that is not that of its node has ended; or one whose steps are not there. */
CTX_RT_TREE_KEEPS void ctx_rt_tree_count_slow(struct ctx_rt_tree *tree, uint64_t function, uint64_t ticks);

/* The node was left and is small: it goes. */
CTX_RT_TREE_KEEPS void ctx_rt_tree_prune(struct ctx_rt_tree *tree, uint32_t node);

/* Prunes small nodes without CTX_RT_NODE_OPEN, compared with `all_ticks` of their parents; those below the root with `root_ticks`. */
void ctx_rt_tree_sweep(struct ctx_rt_tree *tree, uint64_t root_ticks);

/*
 * Marks what is to be written; then the node to be written behind `node` (0: the first one), in depth-first order; 0: none. `*ret_up`: so
 * many levels up from `node` its parent is.
 */
void ctx_rt_tree_mark(struct ctx_rt_tree *tree);
uint32_t ctx_rt_tree_next(const struct ctx_rt_tree *tree, uint32_t node, uint32_t *ret_up);

/* The middle of a step of a power, in ticks. */
static inline uint64_t ctx_rt_step_ticks(uint32_t power, uint32_t step)
{
	return power == 0
		       ? step
		       : ((uint64_t)(CTX_RT_STEPS + step) << (power - 1)) + ((uint64_t)1 << (power - 1)) / 2;
}

static inline void ctx_rt_step_of(uint64_t ticks, uint32_t *ret_power, uint32_t *ret_step)
{
	uint32_t bits = ticks < CTX_RT_STEPS ? CTX_RT_STEP_BITS : 64 - (uint32_t)__builtin_clzll(ticks);

	*ret_power = ticks < CTX_RT_STEPS ? 0 : bits - CTX_RT_STEP_BITS;
	*ret_step = ticks < CTX_RT_STEPS ? (uint32_t)ticks
					 : (uint32_t)(ticks >> (*ret_power - 1)) & (CTX_RT_STEPS - 1);
}

static inline uint32_t ctx_rt_callee_slot(uint32_t caller, uint64_t function)
{
	return (uint32_t)((function + (uint64_t)caller * 0x632be5ab) * UINT64_C(0x9e3779b97f4a7c15) >> 52);
}

/* Time in the current node. */
static inline void ctx_rt_tree_pass(struct ctx_rt_tree *tree, uint64_t ticks)
{
	tree->nodes[tree->current].ticks += ticks;
}

/* A call begins; returns its node. */
static inline uint32_t ctx_rt_tree_enter(struct ctx_rt_tree *tree, uint64_t function)
{
	uint32_t node = tree->callees[ctx_rt_callee_slot(tree->current, function)];

	if (__builtin_expect(node == 0 || tree->nodes[node].parent != tree->current ||
				     tree->nodes[node].function != function,
			     0))
		node = ctx_rt_tree_find(tree, function);
	tree->nodes[node].calls++;
	tree->current = node;
	return node;
}

static inline bool ctx_rt_tree_is_full(const struct ctx_rt_tree *tree)
{
	uint64_t limit = tree->memory->limit;

	return atomic_load_explicit(&tree->memory->used, memory_order_relaxed) > limit - limit / 4;
}

/* Whether so much is too little of its parent's. */
static inline bool ctx_rt_tree_is_small(const struct ctx_rt_tree *tree, uint64_t ticks, uint64_t parent_ticks)
{
	uint64_t share = tree->memory->share;

	/* Both parts are exact enough, and do not overflow. */
	return ticks < (parent_ticks >> 16) * share + ((parent_ticks & 0xffff) * share >> 16);
}

/*
 * The call of the current node ends, after so many ticks; the call around it, which has lasted `around_ticks`, has the node `parent`.
 */
static inline void ctx_rt_tree_leave(struct ctx_rt_tree *tree, uint64_t function, uint64_t ticks,
				     uint32_t parent, uint64_t around_ticks)
{
	struct ctx_rt_node *node = &tree->nodes[tree->current];
	struct ctx_rt_counted *counted = &tree->counted[node->counted];
	uint32_t power, step, left = tree->current;

	ctx_rt_step_of(ticks, &power, &step);
	node->all_ticks += ticks;
	tree->current = parent;
	if (__builtin_expect(node->function == function && counted->powers[power] != 0, 1)) {
		counted->calls++;
		counted->least = ticks < counted->least ? ticks : counted->least;
		counted->most = ticks > counted->most ? ticks : counted->most;
		tree->steps[counted->powers[power]].calls[step]++;
	} else {
		ctx_rt_tree_count_slow(tree, function, ticks);
	}
	if (__builtin_expect(ctx_rt_tree_is_full(tree), 0) && left != parent &&
	    node->function != CTX_RT_PRUNED &&
	    ctx_rt_tree_is_small(tree, node->all_ticks, tree->nodes[parent].all_ticks + around_ticks))
		ctx_rt_tree_prune(tree, left);
}

#endif
