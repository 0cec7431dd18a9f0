#include "calltree/folding.h"

#include "base/mem.h"

#include <stdlib.h>

enum ctx_status ctx_folding_init(struct ctx_folding *folding, const struct ctx_folding_input *input,
				 struct ctx_err *err)
{
	*folding = (struct ctx_folding){.input = input};
	folding->hidden = ctx_calloc(input->n_trees, sizeof(*folding->hidden));
	return folding->hidden != NULL ? CTX_OK : ctx_err_nomem(err);
}

void ctx_folding_deinit(struct ctx_folding *folding)
{
	free(folding->rows);
	free(folding->self);
	free(folding->hidden);
	free(folding->pending);
	*folding = (struct ctx_folding){0};
}

static const struct ctx_calltree_node *nodes_of(const struct ctx_folding *folding)
{
	return folding->input->trees[0].nodes;
}

static bool is_small(const struct ctx_folding *folding, uint32_t node)
{
	const struct ctx_folding_input *input = folding->input;

	for (size_t i = 0; i < input->n_trees; i++) {
		uint64_t cum = input->trees[i].nodes[node].cum;

		if (cum != 0 && (double)cum >= input->least[i])
			return false;
	}
	return true;
}

/* The only child that is not small; CTX_CALLTREE_NONE: there is none, or several. */
static uint32_t only_child(const struct ctx_folding *folding, uint32_t node)
{
	const struct ctx_calltree_node *nodes = nodes_of(folding);
	uint32_t only = CTX_CALLTREE_NONE;

	for (uint32_t i = nodes[node].first_child; i != CTX_CALLTREE_NONE; i = nodes[i].next_sibling) {
		if (is_small(folding, i))
			continue;
		if (only != CTX_CALLTREE_NONE)
			return CTX_CALLTREE_NONE;
		only = i;
	}
	return only;
}

static bool joins(const struct ctx_folding *folding, uint32_t node, uint32_t child)
{
	const struct ctx_folding_input *input = folding->input;

	if (!input->joins || node == 0 || child == CTX_CALLTREE_NONE)
		return false;
	for (size_t i = 0; i < input->n_trees; i++) {
		const struct ctx_calltree_node *nodes = input->trees[i].nodes;
		double share = (double)nodes[child].cum * 100;

		if (nodes[node].base != 0 && (double)nodes[node].base >= input->least[i])
			return false;
		if (share < CTX_FOLDING_JOINED_PERCENT * (double)nodes[node].cum)
			return false;
	}
	return true;
}

/* Nodes of the subtree: they follow each other. */
static uint32_t subtree_nodes(const struct ctx_folding *folding, uint32_t node)
{
	const struct ctx_calltree *tree = &folding->input->trees[0];
	uint32_t at = node;

	for (; at != CTX_CALLTREE_NONE; at = tree->nodes[at].parent) {
		if (tree->nodes[at].next_sibling != CTX_CALLTREE_NONE)
			return tree->nodes[at].next_sibling - node;
	}
	return tree->n - node;
}

static void hide(struct ctx_folding *folding, uint32_t node)
{
	if (is_small(folding, node))
		folding->n_small += subtree_nodes(folding, node);
	else
		folding->n_deep += subtree_nodes(folding, node);
	for (size_t i = 0; i < folding->input->n_trees; i++)
		folding->hidden[i] += folding->input->trees[i].nodes[node].cum;
}

/* A row for the chain that begins with `node`. */
static enum ctx_status add_row(struct ctx_folding *folding, uint32_t node, uint32_t parent,
			       struct ctx_err *err)
{
	const struct ctx_folding_input *input = folding->input;
	struct ctx_folding_row row = {.first = node, .last = node, .parent = parent};
	size_t n_trees = input->n_trees;
	enum ctx_status status = ctx_grow(&folding->rows, &folding->rows_cap, folding->n + 1, err);
	uint64_t *self;

	if (status == CTX_OK)
		status = ctx_grow(&folding->self, &folding->self_cap, (folding->n + 1) * n_trees, err);
	if (status != CTX_OK)
		return status;
	self = &folding->self[folding->n * n_trees];
	for (size_t i = 0; i < n_trees; i++)
		self[i] = input->trees[i].nodes[node].base;
	for (uint32_t child; joins(folding, row.last, child = only_child(folding, row.last));
	     row.last = child) {
		for (size_t i = 0; i < n_trees; i++)
			self[i] += input->trees[i].nodes[child].base;
	}
	row.level = parent != CTX_CALLTREE_NONE ? folding->rows[parent].level + 1 : 0;
	row.is_last = true;
	folding->rows[folding->n++] = row;
	return CTX_OK;
}

/*
 * The children of the row's nodes that are no rows of it become hidden, or wait: the heaviest on
 * top, each with its parent row.
 */
static enum ctx_status push_children(struct ctx_folding *folding, uint32_t row, size_t *n,
				     struct ctx_err *err)
{
	const struct ctx_calltree_node *nodes = nodes_of(folding);
	uint32_t first = folding->rows[row].first, last = folding->rows[row].last;
	bool deepest = folding->rows[row].level >= folding->input->max_level;
	enum ctx_status status = CTX_OK;
	size_t begin = *n;

	for (uint32_t at = last;; at = nodes[at].parent) {
		for (uint32_t i = nodes[at].first_child; i != CTX_CALLTREE_NONE && status == CTX_OK;
		     i = nodes[i].next_sibling) {
			if (is_small(folding, i) || (at == last && deepest)) {
				hide(folding, i);
			} else if (at == last) {
				status = ctx_grow(&folding->pending, &folding->pending_cap, *n + 2, err);
				if (status != CTX_OK)
					return status;
				folding->pending[(*n)++] = row;
				folding->pending[(*n)++] = i;
			}
		}
		if (at == first)
			break;
	}
	for (size_t i = begin, j = *n; i + 2 < j; i += 2) {
		uint32_t swapped = folding->pending[i + 1];

		j -= 2;
		folding->pending[i + 1] = folding->pending[j + 1];
		folding->pending[j + 1] = swapped;
	}
	return status;
}

/* A row has a later sibling if its parent is that of a later row. */
static void mark_last(struct ctx_folding *folding, size_t begin)
{
	for (size_t i = begin; i < folding->n; i++)
		folding->rows[i].is_last = true;
	for (size_t i = folding->n; i-- > begin;) {
		uint32_t parent = folding->rows[i].parent;

		/* `pending` is free now: the last child of each row. */
		if (parent == CTX_CALLTREE_NONE)
			continue;
		if (folding->pending[parent] != 0)
			folding->rows[i].is_last = false;
		folding->pending[parent] = 1;
	}
}

static enum ctx_status find_last(struct ctx_folding *folding, size_t begin, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&folding->pending, &folding->pending_cap, folding->n, err);

	for (size_t i = 0; i < folding->n && status == CTX_OK; i++)
		folding->pending[i] = 0;
	if (status == CTX_OK)
		mark_last(folding, begin);
	return status;
}

enum ctx_status ctx_folding_add(struct ctx_folding *folding, uint32_t top, struct ctx_err *err)
{
	size_t begin = folding->n, n = 0;
	enum ctx_status status = add_row(folding, top, CTX_CALLTREE_NONE, err);

	if (status == CTX_OK)
		status = push_children(folding, (uint32_t)begin, &n, err);
	while (status == CTX_OK && n != 0) {
		uint32_t node = folding->pending[n - 1], parent = folding->pending[n - 2];

		n -= 2;
		status = add_row(folding, node, parent, err);
		if (status == CTX_OK)
			status = push_children(folding, (uint32_t)folding->n - 1, &n, err);
	}
	return status == CTX_OK ? find_last(folding, begin, err) : status;
}

struct heavy {
	uint64_t cum;
	uint32_t row;
};

static int heavier_first(const void *left, const void *right)
{
	const struct heavy *a = left, *b = right;

	if (a->cum != b->cum)
		return a->cum > b->cum ? -1 : 1;
	return a->row < b->row ? -1 : a->row > b->row;
}

/* Drops the rows whose place in `to` is CTX_CALLTREE_NONE. */
static void drop_rows(struct ctx_folding *folding, uint32_t *to)
{
	size_t n_trees = folding->input->n_trees, n = 0;

	for (size_t i = 0; i < folding->n; i++) {
		struct ctx_folding_row row = folding->rows[i];

		if (to[i] == CTX_CALLTREE_NONE) {
			for (size_t tree = 0; tree < n_trees; tree++)
				folding->hidden[tree] += folding->self[i * n_trees + tree];
			folding->n_beyond += folding->input->trees[0].nodes[row.last].level -
					     folding->input->trees[0].nodes[row.first].level + 1;
			continue;
		}
		to[i] = (uint32_t)n;
		if (row.parent != CTX_CALLTREE_NONE)
			row.parent = to[row.parent];
		for (size_t tree = 0; tree < n_trees; tree++)
			folding->self[n * n_trees + tree] = folding->self[i * n_trees + tree];
		folding->rows[n++] = row;
	}
	folding->n = n;
}

enum ctx_status ctx_folding_limit(struct ctx_folding *folding, size_t limit, struct ctx_err *err)
{
	struct heavy *heavy CTX_AUTO_FREE = ctx_calloc(folding->n, sizeof(*heavy));
	uint32_t *to CTX_AUTO_FREE = ctx_calloc(folding->n, sizeof(*to));

	if (limit >= folding->n)
		return CTX_OK;
	if (heavy == NULL || to == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < folding->n; i++)
		heavy[i] = (struct heavy){nodes_of(folding)[folding->rows[i].first].cum, (uint32_t)i};
	qsort(heavy, folding->n, sizeof(*heavy), heavier_first);
	/* A row is never heavier than its parent, which comes before it: parents stay. */
	for (size_t i = limit; i < folding->n; i++)
		to[heavy[i].row] = CTX_CALLTREE_NONE;
	drop_rows(folding, to);
	return find_last(folding, 0, err);
}
