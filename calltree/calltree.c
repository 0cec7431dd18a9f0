/*
 * Builds a tree from a histogram, visiting only CCT nodes that the histogram touches:
 *
 *	cct ids	      0 1 2 3 4 5 6 7 ...
 *	touched	      x . x x . . x .		a bit for every entry and each of its ancestors
 *	rank	      0   1 2     3		number of touched ids below; parents still precede children
 *
 * All sums are computed in arrays indexed by rank: one backward sweep adds children to parents.
 * Siblings are then sorted. With the subtree sizes known, one forward sweep computes every node's
 * position in depth-first order from its parent's.
 */
#include "calltree/calltree.h"

#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

struct touched {
	uint64_t *bits;	       /* by cct id */
	uint32_t *rank_before; /* by word of bits */
	size_t n_words;
	uint32_t n;
};

/* State of a node before its position is known; by rank. */
struct draft {
	uint64_t base, cum, base_samples, cum_samples;
	int64_t calls;
	uint32_t stack, parent;	    /* parent: rank */
	uint32_t first, n_children; /* its slice of the array of siblings */
	uint32_t size;		    /* nodes of the subtree */
	uint32_t place;		    /* index in the finished tree */
};

struct sibling {
	uint64_t cum;
	uint32_t rank;
	uint32_t padding;
};

static void touched_deinit(struct touched *touched)
{
	free(touched->bits);
	free(touched->rank_before);
}

static enum ctx_status mark(const struct ctx_trie *cct, uint32_t n_functions, struct touched *touched,
			    uint32_t stack, struct ctx_err *err)
{
	for (;;) {
		uint64_t bit = UINT64_C(1) << (stack % 64);

		if ((touched->bits[stack / 64] & bit) != 0)
			return CTX_OK;
		if (stack != CTX_TRIE_ROOT && cct->key[stack] >= n_functions)
			return ctx_err_set(err, CTX_E_ARG,
					   "call stack %u has function %u, but there are only %u", stack,
					   cct->key[stack], n_functions);
		touched->bits[stack / 64] |= bit;
		stack = cct->parent[stack];
	}
}

static enum ctx_status touch(const struct ctx_trie *cct, uint32_t n_functions,
			     const struct ctx_histogram *histogram, struct touched *touched,
			     struct ctx_err *err)
{
	touched->n_words = (size_t)cct->n / 64 + 1;
	touched->bits = ctx_calloc(touched->n_words, sizeof(*touched->bits));
	touched->rank_before = ctx_calloc(touched->n_words, sizeof(*touched->rank_before));
	if (touched->bits == NULL || touched->rank_before == NULL)
		return ctx_err_nomem(err);
	touched->bits[0] = 1; /* the root is always touched, and ends every upward walk */
	for (size_t i = 0; i < histogram->n; i++) {
		uint32_t stack = histogram->entries[i].stack;
		enum ctx_status status;

		if (stack >= cct->n)
			return ctx_err_set(err, CTX_E_ARG, "no call stack %u: there are %u", stack, cct->n);
		status = mark(cct, n_functions, touched, stack, err);
		if (status != CTX_OK)
			return status;
	}
	for (size_t word = 0; word < touched->n_words; word++) {
		touched->rank_before[word] = touched->n;
		touched->n += (uint32_t)__builtin_popcountll(touched->bits[word]);
	}
	return CTX_OK;
}

static uint32_t rank_of(const struct touched *touched, uint32_t stack)
{
	uint64_t below = touched->bits[stack / 64] & ((UINT64_C(1) << (stack % 64)) - 1);

	return touched->rank_before[stack / 64] + (uint32_t)__builtin_popcountll(below);
}

static void draft_sums(const struct ctx_trie *cct, const struct ctx_histogram *histogram,
		       const struct touched *touched, struct draft *drafts)
{
	uint32_t rank = 0;

	for (size_t word = 0; word < touched->n_words; word++) {
		for (uint64_t bits = touched->bits[word]; bits != 0; bits &= bits - 1) {
			uint32_t stack = (uint32_t)(word * 64) + (uint32_t)__builtin_ctzll(bits);

			drafts[rank++] = (struct draft){
				.stack = stack, .parent = rank_of(touched, cct->parent[stack]), .size = 1};
		}
	}
	for (size_t i = 0; i < histogram->n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[i];
		struct draft *draft = &drafts[rank_of(touched, entry->stack)];

		draft->base += entry->weight;
		draft->base_samples += entry->samples;
		draft->calls += entry->calls;
	}
	for (uint32_t i = touched->n; i-- > 0;) {
		struct draft *draft = &drafts[i], *parent = &drafts[draft->parent];

		draft->cum += draft->base;
		draft->cum_samples += draft->base_samples;
		if (i == 0)
			break;
		parent->cum += draft->cum;
		parent->cum_samples += draft->cum_samples;
		parent->calls += draft->calls;
		parent->size += draft->size;
		parent->n_children++;
	}
}

static int heavier_first(const void *left, const void *right)
{
	const struct sibling *a = left, *b = right;

	if (a->cum != b->cum)
		return a->cum > b->cum ? -1 : 1;
	return a->rank < b->rank ? -1 : a->rank > b->rank;
}

/* Groups the nodes by parent, sorts each group, and assigns every node its position. */
static void place_nodes(struct draft *drafts, struct sibling *siblings, uint32_t n)
{
	uint32_t next = 0;

	for (uint32_t i = 0; i < n; i++) {
		drafts[i].first = next;
		next += drafts[i].n_children;
		drafts[i].n_children = 0;
	}
	for (uint32_t i = 1; i < n; i++) {
		struct draft *parent = &drafts[drafts[i].parent];

		siblings[parent->first + parent->n_children++] =
			(struct sibling){.cum = drafts[i].cum, .rank = i};
	}
	for (uint32_t i = 0; i < n; i++) {
		struct draft *draft = &drafts[i];
		uint32_t place = draft->place + 1;

		if (draft->n_children > 1)
			qsort(siblings + draft->first, draft->n_children, sizeof(*siblings), heavier_first);
		for (uint32_t child = 0; child < draft->n_children; child++) {
			struct draft *placed = &drafts[siblings[draft->first + child].rank];

			placed->place = place;
			place += placed->size;
		}
	}
}

static void write_nodes(const struct ctx_trie *cct, const struct draft *drafts,
			const struct sibling *siblings, struct ctx_calltree *tree)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		const struct draft *draft = &drafts[i];
		const struct sibling *children = siblings + draft->first;
		struct ctx_calltree_node *node = &tree->nodes[draft->place];

		node->stack = draft->stack;
		node->function = draft->stack == CTX_TRIE_ROOT ? CTX_TRIE_ROOT_KEY : cct->key[draft->stack];
		node->parent = i == 0 ? CTX_CALLTREE_NONE : drafts[draft->parent].place;
		node->first_child = draft->n_children != 0 ? draft->place + 1 : CTX_CALLTREE_NONE;
		if (i == 0)
			node->next_sibling = CTX_CALLTREE_NONE;
		for (uint32_t child = 0; child < draft->n_children; child++) {
			bool last = child + 1 == draft->n_children;

			tree->nodes[drafts[children[child].rank].place].next_sibling =
				last ? CTX_CALLTREE_NONE : drafts[children[child + 1].rank].place;
		}
		node->base = draft->base;
		node->cum = draft->cum;
		node->base_samples = draft->base_samples;
		node->cum_samples = draft->cum_samples;
		node->calls = draft->calls;
	}
}

/* `open` counts, by function, the instances on the path from the root to the current node. */
static void number_levels(struct ctx_calltree *tree, uint32_t *open)
{
	for (uint32_t i = 1; i < tree->n; i++) {
		struct ctx_calltree_node *node = &tree->nodes[i];

		for (uint32_t left = i - 1; left != node->parent; left = tree->nodes[left].parent)
			open[tree->nodes[left].function]--;
		node->level = tree->nodes[node->parent].level + 1;
		node->recursion_level = open[node->function]++;
	}
}

static void link_instances(struct ctx_calltree *tree)
{
	memset(tree->first_instance, 0xff, tree->n_functions * sizeof(*tree->first_instance));
	for (uint32_t i = tree->n; i-- > 1;) {
		struct ctx_calltree_node *node = &tree->nodes[i];

		node->next_instance = tree->first_instance[node->function];
		tree->first_instance[node->function] = i;
	}
	tree->nodes[0].next_instance = CTX_CALLTREE_NONE;
}

static enum ctx_status build(const struct ctx_trie *cct, const struct ctx_histogram *histogram,
			     const struct touched *touched, struct ctx_calltree *tree, struct ctx_err *err)
{
	struct draft *drafts CTX_AUTO_FREE = ctx_calloc(touched->n, sizeof(*drafts));
	struct sibling *siblings CTX_AUTO_FREE = ctx_calloc(touched->n, sizeof(*siblings));
	uint32_t *open CTX_AUTO_FREE = ctx_calloc(tree->n_functions, sizeof(*open));

	tree->n = touched->n;
	tree->nodes = ctx_calloc(tree->n, sizeof(*tree->nodes));
	tree->first_instance = ctx_calloc(tree->n_functions, sizeof(*tree->first_instance));
	if (drafts == NULL || siblings == NULL || open == NULL || tree->nodes == NULL ||
	    tree->first_instance == NULL)
		return ctx_err_nomem(err);
	draft_sums(cct, histogram, touched, drafts);
	place_nodes(drafts, siblings, tree->n);
	write_nodes(cct, drafts, siblings, tree);
	number_levels(tree, open);
	link_instances(tree);
	return CTX_OK;
}

enum ctx_status ctx_calltree_build(const struct ctx_trie *cct, uint32_t n_functions,
				   const struct ctx_histogram *histogram, struct ctx_calltree *ret,
				   struct ctx_err *err)
{
	struct ctx_calltree tree = {.n_functions = n_functions};
	struct touched touched = {0};
	enum ctx_status status;

	if (cct->n == 0)
		return ctx_err_set(err, CTX_E_ARG, "call stacks without a root");
	status = touch(cct, n_functions, histogram, &touched, err);
	if (status == CTX_OK)
		status = build(cct, histogram, &touched, &tree, err);
	touched_deinit(&touched);
	if (status != CTX_OK) {
		ctx_calltree_deinit(&tree);
		return status;
	}
	*ret = tree;
	return CTX_OK;
}

void ctx_calltree_deinit(struct ctx_calltree *tree)
{
	free(tree->nodes);
	free(tree->first_instance);
	*tree = (struct ctx_calltree){0};
}
