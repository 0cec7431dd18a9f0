#include "query/pruned_copy.h"

#include "base/mem.h"
#include "query/tree_reader.h"
#include "timetree/node_summary.h"

#include <stdlib.h>

#define CHILDREN_MAX 256u /* of a node: the largest fanout */

struct copying {
	const struct ctx_pruned_spec *spec;
	struct ctx_store *to;
	const struct ctx_trie *cct;
	struct ctx_node_summary summary;
	uint32_t *pending; /* owned; nodes of the tree that are still to be copied */
	size_t n_pending, pending_cap;
};

/* The histogram of a leaf. */
static enum ctx_status sum_up(struct copying *copying, uint32_t tree, const struct ctx_timenode *node,
			      struct ctx_histogram *out, struct ctx_err *err)
{
	struct ctx_tree_place place = {copying->spec->store, tree};
	struct ctx_timetree_reader reader = ctx_tree_reader(&place);
	const struct ctx_timetree_request request = {.window = node->interval};

	reader.cct = copying->cct;
	return ctx_timetree_query(&reader, request, out, NULL, err);
}

/* Makes it a leaf with lists. */
static enum ctx_status put_leaf(struct copying *copying, uint32_t tree, struct ctx_timenode node,
				struct ctx_err *err)
{
	struct ctx_histogram histogram = {0};
	uint64_t samples = node.samples, weight = node.weight;
	enum ctx_status status = sum_up(copying, tree, &node, &histogram, err);

	if (status == CTX_OK)
		status = ctx_node_summary_make(&copying->summary, &histogram, 100, true, err);
	if (status == CTX_OK) {
		ctx_node_summary_fill(&copying->summary, &histogram, &node);
		node.samples = samples;
		node.weight = weight;
		status = ctx_store_put_node(copying->to, tree, &node, err);
	}
	ctx_histogram_deinit(&histogram);
	return status;
}

static enum ctx_status push_children(struct copying *copying, const struct ctx_timenode *node,
				     struct ctx_err *err)
{
	enum ctx_status status;

	if (node->n_children > CHILDREN_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "node %u claims %u children", node->id,
				   node->n_children);
	status = ctx_grow(&copying->pending, &copying->pending_cap, copying->n_pending + node->n_children,
			  err);
	for (uint32_t i = node->n_children; status == CTX_OK && i-- > 0;)
		copying->pending[copying->n_pending++] = node->first_child + i;
	return status;
}

static enum ctx_status copy_node(struct copying *copying, uint32_t tree, uint32_t id, struct ctx_err *err)
{
	const struct ctx_store_node place = {tree, id};
	struct ctx_timenode node;
	enum ctx_status status = ctx_store_get_node(copying->spec->store, place, true, &node, err);

	if (status != CTX_OK)
		return status;
	if (node.n_children == 0)
		return put_leaf(copying, tree, node, err);
	if (node.level >= copying->spec->levels)
		node.first_child = node.n_children = 0;
	status = push_children(copying, &node, err);
	return status == CTX_OK ? ctx_store_put_node(copying->to, tree, &node, err) : status;
}

static enum ctx_status copy_tree(struct copying *copying, const struct ctx_tree_info *tree,
				 struct ctx_err *err)
{
	enum ctx_status status = ctx_store_put_tree(copying->to, tree, err);

	if (status != CTX_OK || tree->same_as != CTX_NONE)
		return status;
	copying->n_pending = 0;
	status = ctx_grow(&copying->pending, &copying->pending_cap, 1, err);
	if (status == CTX_OK)
		copying->pending[copying->n_pending++] = 0;
	/* Children come after their parent, so each is copied once. */
	while (status == CTX_OK && copying->n_pending != 0)
		status = copy_node(copying, tree->id, copying->pending[--copying->n_pending], err);
	return status;
}

static enum ctx_status copy_trees(struct copying *copying, struct ctx_err *err)
{
	size_t n;
	const struct ctx_tree_info *trees = ctx_store_trees(copying->spec->store, &n);
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < n && status == CTX_OK; i++)
		status = copy_tree(copying, &trees[i], err);
	return status;
}

/* Without addresses: of raw stacks there is the root alone. */
static enum ctx_status put_contents(struct copying *copying, struct ctx_err *err)
{
	const struct ctx_pruned_spec *spec = copying->spec;
	struct ctx_profile profile = *ctx_store_profile(spec->store);
	const uint32_t raw_to_stack = 0;
	struct ctx_trie raw_stacks;
	struct ctx_store_contents contents = {.profile = &profile,
					      .raw_stacks = &raw_stacks,
					      .raw_to_stack = &raw_to_stack,
					      .fingerprint = ctx_store_fingerprint(spec->store)};
	enum ctx_status status = ctx_trie_init(&raw_stacks, err);

	if (status != CTX_OK)
		return status;
	ctx_trie_freeze(&raw_stacks);
	profile.losses.sample_blocks = true;
	profile.losses.figures = spec->figures;
	profile.losses.n_figures = spec->n_figures;
	status = ctx_store_put_contents(copying->to, &contents, err);
	ctx_trie_deinit(&raw_stacks);
	return status;
}

enum ctx_status ctx_pruned_copy(const struct ctx_pruned_spec *spec, struct ctx_buf *image,
				struct ctx_err *err)
{
	struct copying copying = {.spec = spec, .cct = &ctx_store_profile(spec->store)->cct};
	enum ctx_status status = ctx_store_create_in_memory(&copying.to, err);

	if (status == CTX_OK)
		status = copy_trees(&copying, err);
	if (status == CTX_OK)
		status = put_contents(&copying, err);
	if (status == CTX_OK)
		status = ctx_store_image(copying.to, image, err);
	ctx_store_close(copying.to);
	ctx_node_summary_deinit(&copying.summary);
	free(copying.pending);
	return status;
}
