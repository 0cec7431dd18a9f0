#include "calltree/calltree.h"

#include "base/mem.h"

#include <stdbool.h>

/* The tree may have been corrupted on purpose: every index is checked before it is used. */
static const char *broken_links(const struct ctx_calltree *tree, uint32_t i)
{
	const struct ctx_calltree_node *node = &tree->nodes[i];

	if (i == 0)
		return node->parent == CTX_CALLTREE_NONE && node->function == CTX_TRIE_ROOT_KEY &&
				       node->level == 0 && node->recursion_level == 0 &&
				       node->next_sibling == CTX_CALLTREE_NONE
			       ? NULL
			       : "is not a root";
	if (node->parent >= i)
		return "comes before its parent";
	if (node->function >= tree->n_functions)
		return "has a function that does not exist";
	if (node->level != tree->nodes[node->parent].level + 1)
		return "is not one level below its parent";
	if (node->next_instance != CTX_CALLTREE_NONE &&
	    (node->next_instance <= i || node->next_instance >= tree->n ||
	     tree->nodes[node->next_instance].function != node->function))
		return "links to the wrong next instance";
	return NULL;
}

/* The children of node i: in place, in order, and adding up. */
static const char *broken_children(const struct ctx_calltree *tree, uint32_t i)
{
	const struct ctx_calltree_node *node = &tree->nodes[i];
	uint64_t cum = node->base, samples = node->base_samples;
	uint32_t last = CTX_CALLTREE_NONE;

	if (node->first_child != CTX_CALLTREE_NONE && node->first_child != i + 1)
		return "is not followed by its first child";
	for (uint32_t child = node->first_child; child != CTX_CALLTREE_NONE;
	     child = tree->nodes[child].next_sibling) {
		if (child >= tree->n || (last != CTX_CALLTREE_NONE && child <= last) || child <= i)
			return "has children out of depth-first order";
		if (tree->nodes[child].parent != i)
			return "has a child with another parent";
		if (last != CTX_CALLTREE_NONE && (tree->nodes[last].cum < tree->nodes[child].cum ||
						  (tree->nodes[last].cum == tree->nodes[child].cum &&
						   tree->nodes[last].stack >= tree->nodes[child].stack)))
			return "has children that are not sorted by cum";
		cum += tree->nodes[child].cum;
		samples += tree->nodes[child].cum_samples;
		last = child;
	}
	if (cum != node->cum)
		return "has a cum that is not base and children's cum";
	return samples == node->cum_samples ? NULL
					    : "has a sample count that is not its own and its children's";
}

/* Needs sound parents and functions. Every non-root node must be reached by one list of instances,
 * with the right recursion level. */
static const char *broken_recursion(const struct ctx_calltree *tree, uint32_t *open, uint32_t *ret_node)
{
	for (uint32_t i = 1; i < tree->n; i++) {
		const struct ctx_calltree_node *node = &tree->nodes[i];
		uint32_t left = i - 1;

		*ret_node = i;
		for (; left != node->parent && left != 0; left = tree->nodes[left].parent)
			open[tree->nodes[left].function]--;
		if (left != node->parent)
			return "is not in depth-first order";
		if (node->recursion_level != open[node->function]++)
			return "has the wrong recursion level";
	}
	return NULL;
}

static bool instances_complete(const struct ctx_calltree *tree)
{
	uint32_t n = 1;

	for (uint32_t function = 0; function < tree->n_functions; function++) {
		for (uint32_t i = tree->first_instance[function]; i != CTX_CALLTREE_NONE;
		     i = tree->nodes[i].next_instance) {
			if (i == 0 || i >= tree->n || tree->nodes[i].function != function)
				return false;
			n++;
		}
	}
	return n == tree->n;
}

enum ctx_status ctx_calltree_check(const struct ctx_calltree *tree, struct ctx_err *err)
{
	uint32_t *open CTX_AUTO_FREE = ctx_calloc(tree->n_functions, sizeof(*open));
	const char *broken = NULL;
	uint32_t node = 0;

	if (open == NULL)
		return ctx_err_nomem(err);
	if (tree->n == 0)
		return ctx_err_set(err, CTX_E_INTERNAL, "call tree without a root");
	for (uint32_t i = 0; i < tree->n && broken == NULL; i++) {
		node = i;
		broken = broken_links(tree, i);
	}
	for (uint32_t i = 0; i < tree->n && broken == NULL; i++) {
		node = i;
		broken = broken_children(tree, i);
	}
	if (broken == NULL)
		broken = broken_recursion(tree, open, &node);
	if (broken != NULL)
		return ctx_err_set(err, CTX_E_INTERNAL, "call tree: node %u %s", node, broken);
	if (!instances_complete(tree))
		return ctx_err_set(err, CTX_E_INTERNAL, "call tree: instances are not linked completely");
	return CTX_OK;
}
