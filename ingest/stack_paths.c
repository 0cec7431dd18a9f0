#include "ingest/stack_paths.h"

#include "base/mem.h"

#include <string.h>

#define NODES_MAX ((size_t)8 << 20) /* 32 MB */

void ctx_stack_paths_deinit(struct ctx_stack_paths *paths)
{
	free(paths->begins);
	free(paths->nodes);
	*paths = (struct ctx_stack_paths){0};
}

static bool make_room(struct ctx_stack_paths *paths, const struct ctx_trie *cct, size_t depth)
{
	if (paths->n_nodes + depth > NODES_MAX ||
	    ctx_grow(&paths->begins, &paths->begins_cap, cct->n, NULL) != CTX_OK ||
	    ctx_grow(&paths->nodes, &paths->nodes_cap, paths->n_nodes + depth, NULL) != CTX_OK)
		return false;
	if (paths->n_begins < cct->n) {
		memset(paths->begins + paths->n_begins, 0,
		       (cct->n - paths->n_begins) * sizeof(*paths->begins));
		paths->n_begins = cct->n;
	}
	return true;
}

static bool is_kept(const struct ctx_stack_paths *paths, uint32_t stack)
{
	return stack < paths->n_begins && paths->begins[stack] != 0;
}

static bool keep(struct ctx_stack_paths *paths, const struct ctx_trie *cct, uint32_t stack)
{
	uint32_t depth = cct->depth[stack];

	if (!make_room(paths, cct, depth))
		return false;
	paths->begins[stack] = (uint32_t)paths->n_nodes + 1;
	paths->n_nodes += depth;
	for (uint32_t *to = paths->nodes + paths->n_nodes; depth != 0; depth--, stack = cct->parent[stack])
		*--to = stack;
	return true;
}

uint32_t ctx_stack_paths_common(struct ctx_stack_paths *paths, const struct ctx_trie *cct, uint32_t a,
				uint32_t b)
{
	uint32_t max, n = 0;
	const uint32_t *left, *right;

	if ((!is_kept(paths, a) && !keep(paths, cct, a)) || (!is_kept(paths, b) && !keep(paths, cct, b)))
		return ctx_trie_common_ancestor(cct, a, b);
	left = paths->nodes + paths->begins[a] - 1;
	right = paths->nodes + paths->begins[b] - 1;
	max = cct->depth[a] < cct->depth[b] ? cct->depth[a] : cct->depth[b];
	while (n < max && left[n] == right[n])
		n++;
	return n != 0 ? left[n - 1] : CTX_TRIE_ROOT;
}
