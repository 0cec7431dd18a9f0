#include "query/tree_reader.h"

static enum ctx_status read_node(void *context, uint32_t node, bool want_lists, struct ctx_timenode *ret,
				 struct ctx_err *err)
{
	struct ctx_tree_place *place = context;

	return ctx_store_get_node(place->store, (struct ctx_store_node){place->tree, node}, want_lists, ret,
				  err);
}

static enum ctx_status read_leaf(void *context, uint32_t node, const struct ctx_sample **ret_samples,
				 size_t *ret_n, struct ctx_err *err)
{
	struct ctx_tree_place *place = context;

	return ctx_store_get_leaf(place->store, (struct ctx_store_node){place->tree, node}, ret_samples,
				  ret_n, err);
}

struct ctx_timetree_reader ctx_tree_reader(struct ctx_tree_place *place)
{
	return (struct ctx_timetree_reader){
		.context = place,
		.node = read_node,
		.leaf = read_leaf,
		.leaf_lists = ctx_store_profile(place->store)->losses.sample_blocks,
	};
}
