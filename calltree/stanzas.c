/*
 * Edges first, stanzas from them. An edge caller -> callee sums all pairs of a node and its parent
 * with these functions:
 *
 *	main			f is its own parent. The sample in g is below both instances of f:
 *	 `- f (outer)		 - as caller's share it belongs to main, which called the outer f;
 *	     `- f (inner)	 - as callee's share it belongs to g below the inner f.
 *		 `- g
 *
 * So an edge has two cums. For the callee's stanza: the cum of the nodes with recursion level 0.
 * For the caller's stanza: the cum of all its nodes, less what is below a deeper instance of the
 * caller, which that instance's own edges have. One depth-first walk computes both; it keeps the
 * path, and for every function its innermost instance on the path.
 */
#include "calltree/calltree.h"

#include "base/map64.h"
#include "base/mem.h"

#include <stdbool.h>
#include <string.h>

struct edge {
	uint32_t caller,
		callee; /* function ids; the root's is n_functions here, so that arrays have an entry for it */
	int64_t calls;
	uint64_t base, base_samples;
	uint64_t parent_cum, parent_samples; /* as a parent row of the callee */
	uint64_t child_cum, child_samples;   /* as a child row of the caller */
};

struct work {
	const struct ctx_calltree *tree;
	struct ctx_map64 index; /* caller << 32 | callee -> edge */
	struct edge *edges;
	size_t n_edges, edges_cap;
	uint32_t *path;	     /* by level: the nodes on the path to the current one */
	uint32_t *innermost; /* by function: its deepest node on the path, or CTX_CALLTREE_NONE */
	uint32_t *outer;     /* by node: the previous value of innermost */
	uint32_t *stanza_of; /* by function; the root's last */
};

static void work_deinit(struct work *work)
{
	ctx_map64_deinit(&work->index);
	free(work->edges);
	free(work->path);
	free(work->innermost);
	free(work->outer);
	free(work->stanza_of);
}

static enum ctx_status work_init(struct work *work, const struct ctx_calltree *tree, struct ctx_err *err)
{
	size_t n_functions = (size_t)tree->n_functions + 1;

	work->tree = tree;
	work->path = ctx_calloc(tree->n, sizeof(*work->path));
	work->outer = ctx_calloc(tree->n, sizeof(*work->outer));
	work->innermost = ctx_calloc(n_functions, sizeof(*work->innermost));
	work->stanza_of = ctx_calloc(n_functions, sizeof(*work->stanza_of));
	if (work->path == NULL || work->outer == NULL || work->innermost == NULL || work->stanza_of == NULL)
		return ctx_err_nomem(err);
	memset(work->innermost, 0xff, n_functions * sizeof(*work->innermost));
	memset(work->stanza_of, 0xff, n_functions * sizeof(*work->stanza_of));
	return CTX_OK;
}

static uint32_t place_of(const struct ctx_calltree *tree, uint32_t node)
{
	return node == 0 ? tree->n_functions : tree->nodes[node].function;
}

/* The edge into `node`; NULL: out of memory. Valid until the next call. */
static struct edge *edge_to(struct work *work, uint32_t node)
{
	uint32_t caller = place_of(work->tree, work->tree->nodes[node].parent);
	uint32_t callee = place_of(work->tree, node);
	uint32_t *place = ctx_map64_place(&work->index, (uint64_t)caller << 32 | callee);

	if (place == NULL)
		return NULL;
	if (*place == CTX_MAP64_NONE) {
		/* There are never more edges than nodes, so the number fits. */
		if (ctx_grow(&work->edges, &work->edges_cap, work->n_edges + 1, NULL) != CTX_OK)
			return NULL;
		work->edges[work->n_edges] = (struct edge){.caller = caller, .callee = callee};
		*place = (uint32_t)work->n_edges++;
	}
	return &work->edges[*place];
}

static enum ctx_status add_node(struct work *work, uint32_t i, struct ctx_err *err)
{
	const struct ctx_calltree_node *node = &work->tree->nodes[i];
	struct edge *edge = edge_to(work, i);
	uint32_t outer = work->outer[i];

	if (edge == NULL)
		return ctx_err_nomem(err);
	edge->calls += node->calls;
	edge->base += node->base;
	edge->base_samples += node->base_samples;
	edge->child_cum += node->cum;
	edge->child_samples += node->cum_samples;
	if (outer == CTX_CALLTREE_NONE) {
		edge->parent_cum += node->cum;
		edge->parent_samples += node->cum_samples;
		return CTX_OK;
	}
	/*
	 * The outer instance counted these samples below the child on the path to this node: move
	 * them to this node.
	 */
	edge = edge_to(work, work->path[work->tree->nodes[outer].level + 1]);
	if (edge == NULL)
		return ctx_err_nomem(err);
	edge->child_cum -= node->cum;
	edge->child_samples -= node->cum_samples;
	return CTX_OK;
}

static enum ctx_status make_edges(struct work *work, struct ctx_err *err)
{
	const struct ctx_calltree *tree = work->tree;

	for (uint32_t i = 1; i < tree->n; i++) {
		const struct ctx_calltree_node *node = &tree->nodes[i];
		enum ctx_status status;

		for (uint32_t left = i - 1; left != node->parent; left = tree->nodes[left].parent)
			work->innermost[tree->nodes[left].function] = work->outer[left];
		work->path[node->level] = i;
		work->outer[i] = work->innermost[node->function];
		work->innermost[node->function] = i;
		status = add_node(work, i, err);
		if (status != CTX_OK)
			return status;
	}
	return CTX_OK;
}

struct rank {
	uint64_t cum, base;
	uint32_t function;
};

static int compare_ranks(struct rank a, struct rank b)
{
	if (a.cum != b.cum)
		return a.cum > b.cum ? -1 : 1;
	if (a.base != b.base)
		return a.base > b.base ? -1 : 1;
	return a.function < b.function ? -1 : a.function > b.function;
}

static int compare_edges(const void *left, const void *right)
{
	const struct ctx_edge_row *a = left, *b = right;

	return compare_ranks((struct rank){a->cum, a->base, a->function},
			     (struct rank){b->cum, b->base, b->function});
}

static int compare_stanzas(const void *left, const void *right)
{
	const struct ctx_flat_row *a = &((const struct ctx_stanza *)left)->self;
	const struct ctx_flat_row *b = &((const struct ctx_stanza *)right)->self;

	if ((a->function == CTX_TRIE_ROOT_KEY) != (b->function == CTX_TRIE_ROOT_KEY))
		return a->function == CTX_TRIE_ROOT_KEY ? -1 : 1;
	return compare_ranks((struct rank){a->cum, a->base, a->function},
			     (struct rank){b->cum, b->base, b->function});
}

static enum ctx_status make_stanzas(struct work *work, struct ctx_stanzas *set, struct ctx_err *err)
{
	const struct ctx_calltree_node *root = &work->tree->nodes[0];
	struct ctx_flat flat;
	enum ctx_status status = ctx_flat_build(work->tree, &flat, err);

	if (status != CTX_OK)
		return status;
	set->n = flat.n + 1;
	set->stanzas = ctx_calloc(set->n, sizeof(*set->stanzas));
	if (set->stanzas != NULL) {
		set->stanzas[0].self = (struct ctx_flat_row){.function = CTX_TRIE_ROOT_KEY,
							     .base = root->base,
							     .cum = root->cum,
							     .base_samples = root->base_samples,
							     .cum_samples = root->cum_samples,
							     .calls = root->calls};
		for (uint32_t i = 0; i < flat.n; i++)
			set->stanzas[i + 1].self = flat.rows[i];
		qsort(set->stanzas, set->n, sizeof(*set->stanzas), compare_stanzas);
		work->stanza_of[work->tree->n_functions] = 0;
		for (uint32_t i = 1; i < set->n; i++)
			work->stanza_of[set->stanzas[i].self.function] = i;
	}
	ctx_flat_deinit(&flat);
	return set->stanzas != NULL ? CTX_OK : ctx_err_nomem(err);
}

static uint32_t shown_function(const struct work *work, uint32_t place)
{
	return place == work->tree->n_functions ? CTX_TRIE_ROOT_KEY : place;
}

/* Emits the rows: stanza by stanza, parents then children. */
static enum ctx_status share_edges(const struct work *work, struct ctx_stanzas *set, struct ctx_err *err)
{
	struct ctx_edge_row *next;

	set->edges = ctx_calloc(work->n_edges, 2 * sizeof(*set->edges));
	if (set->edges == NULL)
		return ctx_err_nomem(err);
	next = set->edges;
	for (size_t i = 0; i < work->n_edges; i++) {
		set->stanzas[work->stanza_of[work->edges[i].callee]].n_parents++;
		set->stanzas[work->stanza_of[work->edges[i].caller]].n_children++;
	}
	for (uint32_t i = 0; i < set->n; i++) {
		struct ctx_stanza *stanza = &set->stanzas[i];

		stanza->parents = next;
		stanza->children = next + stanza->n_parents;
		next = stanza->children + stanza->n_children;
		stanza->n_parents = 0;
		stanza->n_children = 0;
	}
	for (size_t i = 0; i < work->n_edges; i++) {
		const struct edge *edge = &work->edges[i];
		struct ctx_stanza *caller = &set->stanzas[work->stanza_of[edge->caller]];
		struct ctx_stanza *callee = &set->stanzas[work->stanza_of[edge->callee]];
		struct ctx_edge_row row = {
			.calls = edge->calls, .base = edge->base, .base_samples = edge->base_samples};

		row.function = shown_function(work, edge->caller);
		row.cum = edge->parent_cum;
		row.cum_samples = edge->parent_samples;
		callee->parents[callee->n_parents++] = row;
		row.function = shown_function(work, edge->callee);
		row.cum = edge->child_cum;
		row.cum_samples = edge->child_samples;
		caller->children[caller->n_children++] = row;
	}
	for (uint32_t i = 0; i < set->n; i++) {
		qsort(set->stanzas[i].parents, set->stanzas[i].n_parents, sizeof(*set->edges), compare_edges);
		qsort(set->stanzas[i].children, set->stanzas[i].n_children, sizeof(*set->edges),
		      compare_edges);
	}
	return CTX_OK;
}

enum ctx_status ctx_stanzas_build(const struct ctx_calltree *tree, struct ctx_stanzas *ret,
				  struct ctx_err *err)
{
	struct ctx_stanzas set = {0};
	struct work work = {0};
	enum ctx_status status = work_init(&work, tree, err);

	if (status == CTX_OK)
		status = make_edges(&work, err);
	if (status == CTX_OK)
		status = make_stanzas(&work, &set, err);
	if (status == CTX_OK)
		status = share_edges(&work, &set, err);
	work_deinit(&work);
	if (status != CTX_OK) {
		ctx_stanzas_deinit(&set);
		return status;
	}
	*ret = set;
	return CTX_OK;
}

void ctx_stanzas_deinit(struct ctx_stanzas *stanzas)
{
	free(stanzas->stanzas);
	free(stanzas->edges);
	*stanzas = (struct ctx_stanzas){0};
}

static struct ctx_edge_row sum_rows(const struct ctx_edge_row *rows, uint32_t n)
{
	struct ctx_edge_row sum = {0};

	for (uint32_t i = 0; i < n; i++) {
		sum.calls += rows[i].calls;
		sum.base += rows[i].base;
		sum.cum += rows[i].cum;
		sum.base_samples += rows[i].base_samples;
		sum.cum_samples += rows[i].cum_samples;
	}
	return sum;
}

static const char *broken_stanza(const struct ctx_stanza *stanza)
{
	const struct ctx_flat_row *self = &stanza->self;
	struct ctx_edge_row parents = sum_rows(stanza->parents, stanza->n_parents);
	struct ctx_edge_row children = sum_rows(stanza->children, stanza->n_children);

	if (children.cum + self->base != self->cum ||
	    children.cum_samples + self->base_samples != self->cum_samples)
		return "children's cum and self base are not self cum";
	if (self->function == CTX_TRIE_ROOT_KEY)
		return stanza->n_parents == 0 ? NULL : "the root has parents";
	if (parents.calls != self->calls)
		return "parents' calls are not self calls";
	if (parents.base != self->base || parents.base_samples != self->base_samples)
		return "parents' base is not self base";
	if (parents.cum != self->cum || parents.cum_samples != self->cum_samples)
		return "parents' cum is not self cum";
	return NULL;
}

enum ctx_status ctx_stanzas_check(const struct ctx_stanzas *stanzas, struct ctx_err *err)
{
	for (uint32_t i = 0; i < stanzas->n; i++) {
		const char *broken = broken_stanza(&stanzas->stanzas[i]);

		if (broken != NULL)
			return ctx_err_set(err, CTX_E_INTERNAL, "stanza of function %u: %s",
					   stanzas->stanzas[i].self.function, broken);
	}
	return CTX_OK;
}
