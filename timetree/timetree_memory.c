/*
 * A tree in memory: rows by id, all data that they point to in one arena.
 */
#include "base/arena.h"
#include "base/mem.h"
#include "timetree/timetree.h"

#include <string.h>

struct row {
	struct ctx_timenode node;
	struct ctx_sample *samples; /* of a leaf */
	size_t n_samples;
	bool present;
};

struct ctx_timetree {
	struct row *rows;
	size_t n, cap;
	struct ctx_arena arena;
};

enum ctx_status ctx_timetree_create(struct ctx_timetree **ret, struct ctx_err *err)
{
	struct ctx_timetree *tree = ctx_calloc(1, sizeof(*tree));

	if (tree == NULL)
		return ctx_err_nomem(err);
	*ret = tree;
	return CTX_OK;
}

void ctx_timetree_destroy(struct ctx_timetree *tree)
{
	if (tree == NULL)
		return;
	free(tree->rows);
	ctx_arena_deinit(&tree->arena);
	free(tree);
}

/* The row of `id`, created if needed. NULL: out of memory. */
static struct row *place(struct ctx_timetree *tree, uint32_t id, struct ctx_err *err)
{
	if (ctx_grow(&tree->rows, &tree->cap, (size_t)id + 1, err) != CTX_OK)
		return NULL;
	if (tree->n <= id) {
		memset(tree->rows + tree->n, 0, (id + 1 - tree->n) * sizeof(*tree->rows));
		tree->n = (size_t)id + 1;
	}
	return &tree->rows[id];
}

static enum ctx_status copy(struct ctx_timetree *tree, const void *bytes, size_t n, const void **ret,
			    struct ctx_err *err)
{
	void *to = NULL;

	if (n != 0) {
		to = ctx_arena_alloc(&tree->arena, n);
		if (to == NULL)
			return ctx_err_nomem(err);
		memcpy(to, bytes, n);
	}
	*ret = to;
	return CTX_OK;
}

static enum ctx_status put_leaf(void *context, uint32_t node, const struct ctx_sample *samples, size_t n,
				struct ctx_err *err)
{
	struct row *row = place(context, node, err);
	size_t bytes;

	if (row == NULL || __builtin_mul_overflow(n, sizeof(*samples), &bytes))
		return ctx_err_nomem(err);
	row->samples = ctx_arena_alloc(&((struct ctx_timetree *)context)->arena, bytes);
	if (row->samples == NULL)
		return ctx_err_nomem(err);
	memcpy(row->samples, samples, bytes);
	row->n_samples = n;
	return CTX_OK;
}

static enum ctx_status put_node(void *context, const struct ctx_timenode *node, struct ctx_err *err)
{
	struct ctx_timetree *tree = context;
	struct row *row = place(tree, node->id, err);
	const void *top = NULL, *tail = NULL, *calls = NULL;
	enum ctx_status status;

	if (row == NULL)
		return CTX_E_NOMEM;
	status = copy(tree, node->top, node->top_bytes, &top, err);
	if (status == CTX_OK)
		status = copy(tree, node->tail, node->tail_bytes, &tail, err);
	if (status == CTX_OK)
		status = copy(tree, node->calls, node->calls_bytes, &calls, err);
	if (status != CTX_OK)
		return status;
	row->node = *node;
	row->node.top = top;
	row->node.tail = tail;
	row->node.calls = calls;
	row->present = true;
	return CTX_OK;
}

static enum ctx_status missing(struct ctx_err *err, uint32_t node)
{
	return ctx_err_set(err, CTX_E_FORMAT, "time tree: there is no node %u", node);
}

static enum ctx_status get_node(void *context, uint32_t node, bool want_lists, struct ctx_timenode *ret,
				struct ctx_err *err)
{
	const struct ctx_timetree *tree = context;

	(void)want_lists; /* they are free here */
	if (node >= tree->n || !tree->rows[node].present)
		return missing(err, node);
	*ret = tree->rows[node].node;
	return CTX_OK;
}

static enum ctx_status get_leaf(void *context, uint32_t node, const struct ctx_sample **ret_samples,
				size_t *ret_n, struct ctx_err *err)
{
	const struct ctx_timetree *tree = context;

	if (node >= tree->n || !tree->rows[node].present)
		return missing(err, node);
	*ret_samples = tree->rows[node].samples;
	*ret_n = tree->rows[node].n_samples;
	return CTX_OK;
}

struct ctx_timetree_sink ctx_timetree_sink(struct ctx_timetree *tree)
{
	return (struct ctx_timetree_sink){.context = tree, .leaf = put_leaf, .node = put_node};
}

struct ctx_timetree_reader ctx_timetree_reader(struct ctx_timetree *tree, const struct ctx_trie *cct)
{
	return (struct ctx_timetree_reader){.context = tree, .node = get_node, .leaf = get_leaf, .cct = cct};
}
