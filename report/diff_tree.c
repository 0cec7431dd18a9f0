#include "report/diff_tree.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define JOINED 0.97 /* share of the change of a node that its only child has */

struct sibling {
	uint32_t row, parent_item;
	double change, weight;
};

static const struct ctx_diff_item *item_of(const struct ctx_diff *diff, uint32_t row)
{
	return &diff->items.items[diff->rows[row].item];
}

/* By parent, then by the size of the change, then by weight. */
static int compare_siblings(const void *left, const void *right)
{
	const struct sibling *a = left, *b = right;
	double x = fabs(a->change), y = fabs(b->change);

	if (a->parent_item != b->parent_item)
		return a->parent_item < b->parent_item ? -1 : 1;
	if (x != y)
		return x < y ? 1 : -1;
	if (a->weight != b->weight)
		return a->weight < b->weight ? 1 : -1;
	return (a->row > b->row) - (a->row < b->row);
}

struct build {
	const struct ctx_diff *diff;
	struct ctx_diff_tree *tree;
	struct sibling *siblings; /* all rows */
	uint32_t *first;	  /* by item: its first child among them; the last: those without parent */
};

/* A sibling's parent, with those without behind all. */
static uint32_t parent_slot(const struct build *build, uint32_t parent)
{
	return parent != CTX_NONE ? parent : (uint32_t)build->diff->items.n;
}

/* Puts the subtrees of `root` in depth-first order; no recursion, since stacks can be deep. */
static void walk(struct build *build)
{
	struct ctx_diff_tree *tree = build->tree;
	uint32_t n = (uint32_t)build->diff->n, at = 0, next = build->first[build->diff->items.n];

	for (;;) {
		/* The next child of `at`, or, without one, up. */
		const struct sibling *sibling = next < n ? &build->siblings[next] : NULL;
		uint32_t slot = at == 0 ? (uint32_t)build->diff->items.n
					: build->diff->rows[tree->nodes[at].row].item;

		if (sibling != NULL && parent_slot(build, sibling->parent_item) == slot) {
			tree->nodes[tree->n] = (struct ctx_diff_node){.row = sibling->row,
								      .parent = at,
								      .level = tree->nodes[at].level + 1,
								      .change = sibling->change};
			at = tree->n++;
			next = build->first[build->diff->rows[sibling->row].item];
			/* Where the search goes on when the subtree is done. */
			tree->nodes[at].explained = (uint32_t)(sibling - build->siblings) + 1;
			continue;
		}
		tree->nodes[at].end = tree->n;
		if (at == 0)
			return;
		next = tree->nodes[at].explained;
		at = tree->nodes[at].parent;
	}
}

/* From the last node to the first: children come before their parents. */
static void explain(struct ctx_diff_tree *tree)
{
	for (uint32_t i = tree->n; i-- > 0;) {
		struct ctx_diff_node *node = &tree->nodes[i];

		node->explained = i;
		for (uint32_t child = i + 1; child < node->end; child = tree->nodes[child].end) {
			double share = node->change != 0 ? tree->nodes[child].change / node->change : 0;

			if (share >= CTX_DIFF_EXPLAINED && share <= 1 / CTX_DIFF_EXPLAINED) {
				node->explained = tree->nodes[child].explained;
				break;
			}
		}
	}
}

enum ctx_status ctx_diff_tree_make(const struct ctx_diff *diff, struct ctx_diff_tree *ret,
				   struct ctx_err *err)
{
	struct sibling *siblings CTX_AUTO_FREE = ctx_calloc(diff->n + 1, sizeof(*siblings));
	uint32_t *first CTX_AUTO_FREE = ctx_calloc(diff->items.n + 1, sizeof(*first));
	struct build build = {diff, ret, siblings, first};

	*ret = (struct ctx_diff_tree){.nodes = ctx_calloc(diff->n + 1, sizeof(*ret->nodes)), .n = 1};
	if (siblings == NULL || first == NULL || ret->nodes == NULL) {
		ctx_diff_tree_deinit(ret);
		return ctx_err_nomem(err);
	}
	for (uint32_t i = 0; i < diff->n; i++)
		siblings[i] = (struct sibling){.row = i,
					       .parent_item = item_of(diff, i)->parent,
					       .change = diff->rows[i].evidence.change,
					       .weight = diff->rows[i].weight[0] + diff->rows[i].weight[1]};
	if (diff->n != 0)
		qsort(siblings, diff->n, sizeof(*siblings), compare_siblings);
	for (size_t i = 0; i <= diff->items.n; i++)
		first[i] = CTX_NONE;
	for (uint32_t i = (uint32_t)diff->n; i-- > 0;)
		first[parent_slot(&build, siblings[i].parent_item)] = i;
	ret->nodes[0] = (struct ctx_diff_node){.row = CTX_NONE,
					       .parent = CTX_NONE,
					       .change = diff->sides[CTX_COMPARE_B].weight -
							 diff->sides[CTX_COMPARE_A].weight};
	walk(&build);
	explain(ret);
	return CTX_OK;
}

void ctx_diff_tree_deinit(struct ctx_diff_tree *tree)
{
	free(tree->nodes);
	*tree = (struct ctx_diff_tree){0};
}

/* The only shown child, if it has nearly all of the change; CTX_NONE: there is none. */
static uint32_t joined_child(const struct ctx_diff_tree *tree, uint32_t node, const uint32_t *shown)
{
	uint32_t found = CTX_NONE;

	for (uint32_t child = node + 1; child < tree->nodes[node].end; child = tree->nodes[child].end) {
		if (shown[child] == CTX_NONE)
			continue;
		if (found != CTX_NONE)
			return CTX_NONE;
		found = child;
	}
	if (found == CTX_NONE)
		return CTX_NONE;
	return fabs(tree->nodes[found].change - tree->nodes[node].change) <=
			       (1 - JOINED) * fabs(tree->nodes[node].change)
		       ? found
		       : CTX_NONE;
}

uint32_t ctx_diff_tree_fold(const struct ctx_diff *diff, const struct ctx_diff_tree *tree, double least,
			    bool joins, uint32_t *last_of)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < tree->n; i++)
		last_of[i] = i == 0 || fabs(tree->nodes[i].change) >= least ||
					     diff->rows[tree->nodes[i].row].verdict != CTX_VERDICT_NONE
				     ? i
				     : CTX_NONE;
	for (uint32_t i = tree->n; i-- > 1;) {
		if (last_of[i] != CTX_NONE)
			last_of[tree->nodes[i].parent] = tree->nodes[i].parent;
	}
	for (uint32_t i = tree->n; i-- > 1 && joins;) {
		uint32_t child = last_of[i] != CTX_NONE ? joined_child(tree, i, last_of) : CTX_NONE;

		if (child == CTX_NONE)
			continue;
		last_of[i] = last_of[child];
		last_of[child] = CTX_NONE;
	}
	for (uint32_t i = 1; i < tree->n; i++)
		n += last_of[i] != CTX_NONE;
	return n;
}
