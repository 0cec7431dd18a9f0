#include "calltree/calltree.h"

#include "base/mem.h"

static int by_base(const void *left, const void *right)
{
	const struct ctx_flat_row *a = left, *b = right;

	if (a->base != b->base)
		return a->base > b->base ? -1 : 1;
	if (a->cum != b->cum)
		return a->cum > b->cum ? -1 : 1;
	return a->function < b->function ? -1 : a->function > b->function;
}

static struct ctx_flat_row sum_instances(const struct ctx_calltree *tree, uint32_t function)
{
	struct ctx_flat_row row = {.function = function};

	for (uint32_t i = tree->first_instance[function]; i != CTX_CALLTREE_NONE;
	     i = tree->nodes[i].next_instance) {
		const struct ctx_calltree_node *node = &tree->nodes[i];

		row.base += node->base;
		row.base_samples += node->base_samples;
		row.calls += node->calls;
		/* Anything below a recursive instance is below the outermost one as well. */
		if (node->recursion_level == 0) {
			row.cum += node->cum;
			row.cum_samples += node->cum_samples;
		}
	}
	return row;
}

enum ctx_status ctx_flat_build(const struct ctx_calltree *tree, struct ctx_flat *ret, struct ctx_err *err)
{
	struct ctx_flat flat = {.weight = tree->nodes[0].cum, .samples = tree->nodes[0].cum_samples};

	for (uint32_t function = 0; function < tree->n_functions; function++)
		flat.n += tree->first_instance[function] != CTX_CALLTREE_NONE;
	flat.rows = ctx_calloc(flat.n, sizeof(*flat.rows));
	if (flat.rows == NULL)
		return ctx_err_nomem(err);
	flat.n = 0;
	for (uint32_t function = 0; function < tree->n_functions; function++) {
		if (tree->first_instance[function] != CTX_CALLTREE_NONE)
			flat.rows[flat.n++] = sum_instances(tree, function);
	}
	qsort(flat.rows, flat.n, sizeof(*flat.rows), by_base);
	*ret = flat;
	return CTX_OK;
}

void ctx_flat_deinit(struct ctx_flat *flat)
{
	free(flat->rows);
	*flat = (struct ctx_flat){0};
}
