/*
 *	histograms of the metrics -> one histogram with the stacks of all -> calltree: the nodes
 *	each metric's histogram -> its values on a copy of these nodes
 *	siblings sorted by all metrics -> new position of every node -> all copies rearranged the same way
 */
#include "report/metric_trees.h"

#include "base/mem.h"

#include <string.h>

struct set {
	struct ctx_calltree *trees;
	size_t n;
	double small_percent;
};

struct sibling {
	const struct set *set;
	uint32_t node;
	bool small;
};

bool ctx_metric_trees_is_small(const struct ctx_calltree *trees, size_t n, uint32_t node, double percent)
{
	for (size_t i = 0; i < n; i++) {
		if ((double)trees[i].nodes[node].cum * 100 >= percent * (double)trees[i].nodes[0].cum &&
		    trees[i].nodes[0].cum != 0)
			return false;
	}
	return percent > 0;
}

static enum ctx_status build_union(const struct ctx_profile *profile, const struct ctx_report_part *part,
				   size_t n_metrics, struct ctx_calltree *ret, struct ctx_err *err)
{
	struct ctx_histogram all = {0};
	enum ctx_status status = ctx_histogram_merge(&all, &part->histograms[0], err);

	for (size_t m = 1; m < n_metrics; m++) {
		const struct ctx_histogram *histogram = &part->histograms[m];

		for (size_t i = 0; i < histogram->n && status == CTX_OK; i++)
			status = ctx_histogram_add(
				&all, (struct ctx_hist_entry){.stack = histogram->entries[i].stack}, err);
	}
	if (status == CTX_OK)
		status = ctx_calltree_build(&profile->cct, profile->n_functions, &all, ret, err);
	ctx_histogram_deinit(&all);
	return status;
}

/* `node_of` by stack. */
static enum ctx_status copy_with_numbers(const struct ctx_calltree *from,
					 const struct ctx_histogram *histogram, const uint32_t *node_of,
					 struct ctx_calltree *ret, struct ctx_err *err)
{
	*ret = (struct ctx_calltree){.nodes = ctx_calloc(from->n, sizeof(*ret->nodes)),
				     .first_instance =
					     ctx_calloc(from->n_functions, sizeof(*ret->first_instance)),
				     .n = from->n,
				     .n_functions = from->n_functions};
	if (ret->nodes == NULL || ret->first_instance == NULL)
		return ctx_err_nomem(err);
	memcpy(ret->nodes, from->nodes, from->n * sizeof(*ret->nodes));
	memcpy(ret->first_instance, from->first_instance, from->n_functions * sizeof(*ret->first_instance));
	for (uint32_t i = 0; i < ret->n; i++) {
		struct ctx_calltree_node *node = &ret->nodes[i];

		node->base = node->cum = node->base_samples = node->cum_samples = 0;
		node->calls = 0;
	}
	for (size_t i = 0; i < histogram->n; i++) {
		const struct ctx_hist_entry *entry = &histogram->entries[i];
		struct ctx_calltree_node *node = &ret->nodes[node_of[entry->stack]];

		node->base += entry->weight;
		node->base_samples += entry->samples;
		node->calls += entry->calls;
	}
	for (uint32_t i = ret->n; i-- > 0;) {
		struct ctx_calltree_node *node = &ret->nodes[i];

		node->cum += node->base;
		node->cum_samples += node->base_samples;
		if (i == 0)
			break;
		ret->nodes[node->parent].cum += node->cum;
		ret->nodes[node->parent].cum_samples += node->cum_samples;
		ret->nodes[node->parent].calls += node->calls;
	}
	return CTX_OK;
}

static int compare_siblings(const void *left, const void *right)
{
	const struct sibling *a = left, *b = right;

	if (a->small != b->small)
		return a->small ? 1 : -1;
	for (size_t i = 0; i < a->set->n; i++) {
		const struct ctx_calltree_node *nodes = a->set->trees[i].nodes;

		if (nodes[a->node].cum != nodes[b->node].cum)
			return nodes[a->node].cum > nodes[b->node].cum ? -1 : 1;
	}
	return a->node < b->node ? -1 : a->node > b->node;
}

/* Writes the sorted children of `node` to `siblings`; returns their number. */
static size_t sorted_children(const struct set *set, uint32_t node, struct sibling *siblings)
{
	const struct ctx_calltree_node *nodes = set->trees[0].nodes;
	size_t n = 0;

	for (uint32_t i = nodes[node].first_child; i != CTX_CALLTREE_NONE; i = nodes[i].next_sibling)
		siblings[n++] = (struct sibling){
			set, i, ctx_metric_trees_is_small(set->trees, set->n, i, set->small_percent)};
	if (n > 1)
		qsort(siblings, n, sizeof(*siblings), compare_siblings);
	return n;
}

/*
 * The new position of every node, and of its next sibling. Parents are placed before their
 * children.
 */
static void place_nodes(const struct set *set, uint32_t *size, uint32_t *place, uint32_t *next,
			struct sibling *siblings)
{
	const struct ctx_calltree *tree = &set->trees[0];

	for (uint32_t i = tree->n; i-- > 0;) {
		size[i]++;
		if (i != 0)
			size[tree->nodes[i].parent] += size[i];
	}
	place[0] = 0;
	next[0] = CTX_CALLTREE_NONE;
	for (uint32_t i = 0; i < tree->n; i++) {
		size_t n = sorted_children(set, i, siblings);
		uint32_t at = place[i] + 1;

		for (size_t child = 0; child < n; child++) {
			place[siblings[child].node] = at;
			at += size[siblings[child].node];
			next[siblings[child].node] = child + 1 < n ? at : CTX_CALLTREE_NONE;
		}
	}
}

static void rearrange(struct ctx_calltree *tree, const uint32_t *place, const uint32_t *next,
		      struct ctx_calltree_node *nodes)
{
	for (uint32_t i = 0; i < tree->n; i++) {
		struct ctx_calltree_node *node = &nodes[place[i]];

		*node = tree->nodes[i];
		node->parent = i != 0 ? place[node->parent] : CTX_CALLTREE_NONE;
		node->first_child = node->first_child != CTX_CALLTREE_NONE ? place[i] + 1 : CTX_CALLTREE_NONE;
		node->next_sibling = next[i];
	}
	free(tree->nodes);
	tree->nodes = nodes;
	memset(tree->first_instance, 0xff, tree->n_functions * sizeof(*tree->first_instance));
	for (uint32_t i = tree->n; i-- > 1;) {
		nodes[i].next_instance = tree->first_instance[nodes[i].function];
		tree->first_instance[nodes[i].function] = i;
	}
	nodes[0].next_instance = CTX_CALLTREE_NONE;
}

static enum ctx_status sort_all(const struct set *set, struct ctx_err *err)
{
	uint32_t n = set->trees[0].n;
	uint32_t *size CTX_AUTO_FREE = ctx_calloc(n, sizeof(*size));
	uint32_t *place CTX_AUTO_FREE = ctx_calloc(n, sizeof(*place));
	uint32_t *next CTX_AUTO_FREE = ctx_calloc(n, sizeof(*next));
	struct sibling *siblings CTX_AUTO_FREE = ctx_calloc(n, sizeof(*siblings));

	if (size == NULL || place == NULL || next == NULL || siblings == NULL)
		return ctx_err_nomem(err);
	place_nodes(set, size, place, next, siblings);
	for (size_t i = 0; i < set->n; i++) {
		struct ctx_calltree_node *nodes = ctx_calloc(n, sizeof(*nodes));

		if (nodes == NULL)
			return ctx_err_nomem(err);
		rearrange(&set->trees[i], place, next, nodes);
	}
	return CTX_OK;
}

enum ctx_status ctx_metric_trees_build(const struct ctx_metric_trees_input *input, struct ctx_calltree *trees,
				       struct ctx_err *err)
{
	const struct ctx_profile *profile = input->profile;
	const struct ctx_report_part *part = input->part;
	size_t n_metrics = input->n_metrics;
	uint32_t *node_of CTX_AUTO_FREE = NULL;
	struct set set = {.trees = trees, .n = 1, .small_percent = input->small_percent};
	enum ctx_status status;

	if (n_metrics == 1)
		return ctx_calltree_build(&profile->cct, profile->n_functions, part->histograms, trees, err);
	status = build_union(profile, part, n_metrics, trees, err);
	if (status != CTX_OK)
		return status;
	node_of = ctx_calloc(profile->cct.n, sizeof(*node_of));
	if (node_of == NULL)
		status = ctx_err_nomem(err);
	for (uint32_t i = 0; i < trees->n && status == CTX_OK; i++)
		node_of[trees->nodes[i].stack] = i;
	for (; set.n < n_metrics && status == CTX_OK; set.n += status == CTX_OK)
		status = copy_with_numbers(trees, &part->histograms[set.n], node_of, &trees[set.n], err);
	if (status == CTX_OK)
		status = sort_all(&set, err);
	for (size_t i = 0; i < n_metrics && status != CTX_OK; i++)
		ctx_calltree_deinit(&trees[i]);
	return status;
}
