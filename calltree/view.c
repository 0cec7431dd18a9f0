/*
 * One pass over the nodes, parents first. The place of a stack:
 *
 *	node		where its own weight goes
 *	floor		below which kept frames can still vanish: the root, the last METHOD or MARK
 *	base		where the next METHOD hangs, if it does not drop: `node`, but below a LEAF or GRAFT the
 *			node above that
 */
#include "calltree/view.h"

#include "base/mem.h"

#include <stdlib.h>

enum mode {
	OPEN,	   /* kept frames are kept */
	ABSORBING, /* below a METHOD that absorbs */
	IN_LEAF,   /* below a LEAF */
	IN_GRAFT,  /* below a GRAFT, before the METHOD */
};

struct place {
	uint32_t node, floor, base;
	enum mode mode;
};

static enum ctx_status keep_all(struct ctx_trie *to, const struct ctx_trie *from, struct ctx_err *err)
{
	enum ctx_status status = ctx_trie_init(to, err);

	for (uint32_t i = 1, node; i < from->n && status == CTX_OK; i++)
		status = ctx_trie_child(to, from->parent[i], from->key[i], &node, err);
	return status;
}

static enum ctx_status place_kept(struct ctx_trie *to, const struct ctx_view_rule *rule, struct place *here,
				  struct ctx_err *err)
{
	enum ctx_status status;

	if (here->mode != OPEN)
		return CTX_OK;
	status = ctx_trie_child(to, here->node, rule->key, &here->node, err);
	here->base = here->node;
	return status;
}

static enum ctx_status place_method(struct ctx_trie *to, const struct ctx_view_rule *rule, struct place *here,
				    struct ctx_err *err)
{
	enum ctx_status status =
		ctx_trie_child(to, rule->drops ? here->floor : here->base, rule->key, &here->node, err);

	here->floor = here->base = here->node;
	here->mode = rule->absorbs ? ABSORBING : OPEN;
	return status;
}

static enum ctx_status place_leaf(struct ctx_trie *to, const struct ctx_view_rule *rule, struct place *here,
				  struct ctx_err *err)
{
	if (here->mode == ABSORBING || (here->mode == IN_LEAF && !rule->strong))
		return CTX_OK;
	if (rule->drops)
		here->base = here->floor;
	here->mode = IN_LEAF;
	return ctx_trie_child(to, here->base, rule->key, &here->node, err);
}

/* What a stack was cut at has no callers that could vanish. */
static enum ctx_status place_mark(struct ctx_trie *to, const struct ctx_view_rule *rule, struct place *here,
				  struct ctx_err *err)
{
	bool at_floor = here->node == here->floor;
	enum ctx_status status;

	if (here->mode == IN_LEAF || here->mode == IN_GRAFT)
		return CTX_OK;
	status = ctx_trie_child(to, here->node, rule->key, &here->node, err);
	here->base = here->node;
	if (at_floor)
		here->floor = here->node;
	return status;
}

static enum ctx_status place(struct ctx_trie *to, const struct ctx_view_rule *rule, struct place *here,
			     struct ctx_err *err)
{
	switch (rule->action) {
	case CTX_VIEW_METHOD:
		return place_method(to, rule, here, err);
	case CTX_VIEW_LEAF:
		return place_leaf(to, rule, here, err);
	case CTX_VIEW_MARK:
		return place_mark(to, rule, here, err);
	case CTX_VIEW_HIDE:
		return CTX_OK;
	case CTX_VIEW_RESTART:
		*here = (struct place){0};
		return CTX_OK;
	case CTX_VIEW_GRAFT:
		here->node = here->base;
		here->mode = IN_GRAFT;
		return CTX_OK;
	case CTX_VIEW_KEEP:
		break;
	}
	return place_kept(to, rule, here, err);
}

/* A parent's place is within its children's: they are joined from the last node to the first. */
static void find_common(struct ctx_view_map *map, const struct ctx_trie *from)
{
	for (uint32_t i = 0; i < from->n; i++)
		map->common[i] = map->of[i];
	for (uint32_t i = from->n; i-- > 1;) {
		uint32_t *parent = &map->common[from->parent[i]];

		*parent = ctx_trie_common_ancestor(&map->to, *parent, map->common[i]);
	}
}

enum ctx_status ctx_view_map_make(struct ctx_view_map *map, const struct ctx_trie *from,
				  const struct ctx_view_rule *rules, struct ctx_err *err)
{
	struct place *places CTX_AUTO_FREE = ctx_calloc(from->n, sizeof(*places));
	enum ctx_status status;

	*map = (struct ctx_view_map){.n = from->n};
	map->of = ctx_calloc(from->n, sizeof(*map->of));
	map->common = ctx_calloc(from->n, sizeof(*map->common));
	status = keep_all(&map->to, from, err);
	if (status != CTX_OK)
		return status;
	if (places == NULL || map->of == NULL || map->common == NULL)
		return ctx_err_nomem(err);
	for (uint32_t i = 1; i < from->n && status == CTX_OK; i++) {
		places[i] = places[from->parent[i]];
		status = place(&map->to, &rules[from->key[i]], &places[i], err);
		map->of[i] = places[i].node;
	}
	if (status == CTX_OK)
		find_common(map, from);
	return status;
}

void ctx_view_map_deinit(struct ctx_view_map *map)
{
	ctx_trie_deinit(&map->to);
	free(map->of);
	free(map->common);
	*map = (struct ctx_view_map){0};
}
