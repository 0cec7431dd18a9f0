#include "timetree/phase_classes.h"

#include "base/mem.h"

#include <stdlib.h>

#define LEAST_SAMPLES 8u
#define LEAST_SHARE 1000u /* one in so many */

/* By CCT node. */
struct cut {
	const struct ctx_trie *cct;
	uint64_t *totals;		 /* samples of the subtree */
	uint32_t *first_child, *sibling; /* of children that may have a class; 0 none */
	uint32_t *of;
	uint64_t least; /* samples of a class */
	uint32_t *open; /* nodes whose class may be divided, at most CTX_PHASE_CLASSES */
	size_t n_open;
	uint32_t n;	 /* classes in use: the last number and one */
	uint32_t *nodes; /* by class */
};

static enum ctx_status sum_up(struct cut *cut, const struct ctx_histogram *histogram, struct ctx_err *err)
{
	for (size_t i = 0; i < histogram->n; i++) {
		uint32_t stack = histogram->entries[i].stack;

		if (stack >= cut->cct->n)
			return ctx_err_set(err, CTX_E_FORMAT, "a stack that is not in the tree");
		cut->totals[stack] += histogram->entries[i].samples;
	}
	for (uint32_t i = cut->cct->n; i-- > 1;)
		cut->totals[cut->cct->parent[i]] += cut->totals[i];
	cut->least = cut->totals[0] / LEAST_SHARE;
	cut->least = cut->least > LEAST_SAMPLES ? cut->least : LEAST_SAMPLES;
	for (uint32_t i = cut->cct->n; i-- > 1;) {
		if (cut->totals[i] < cut->least)
			continue;
		cut->sibling[i] = cut->first_child[cut->cct->parent[i]];
		cut->first_child[cut->cct->parent[i]] = i;
	}
	return CTX_OK;
}

/* The open node with the most samples; it is open no more. */
static uint32_t take_heaviest(struct cut *cut)
{
	size_t best = 0;
	uint32_t node;

	for (size_t i = 1; i < cut->n_open; i++) {
		if (cut->totals[cut->open[i]] > cut->totals[cut->open[best]])
			best = i;
	}
	node = cut->open[best];
	cut->open[best] = cut->open[--cut->n_open];
	return node;
}

/* The heaviest child that has no class yet; 0: none. */
static uint32_t next_child(const struct cut *cut, uint32_t node)
{
	uint32_t best = 0;

	for (uint32_t i = cut->first_child[node]; i != 0; i = cut->sibling[i]) {
		if (cut->of[i] == 0 && (best == 0 || cut->totals[i] > cut->totals[best]))
			best = i;
	}
	return best;
}

/* Gives the children of a node classes; an only child that has all samples takes over that of the node. */
static void divide(struct cut *cut, uint32_t node)
{
	for (uint32_t child; cut->n < CTX_PHASE_CLASSES && (child = next_child(cut, node)) != 0;) {
		cut->of[child] = cut->totals[child] == cut->totals[node] ? cut->of[node] : cut->n++;
		cut->nodes[cut->of[child]] = child;
		cut->open[cut->n_open++] = child;
	}
}

enum ctx_status ctx_phase_classes_make(const struct ctx_trie *cct, const struct ctx_histogram *histogram,
				       struct ctx_phase_classes *ret, struct ctx_err *err)
{
	uint64_t *totals CTX_AUTO_FREE = ctx_calloc(cct->n, sizeof(*totals));
	uint32_t *links CTX_AUTO_FREE = ctx_calloc(cct->n, 2 * sizeof(*links));
	struct ctx_phase_classes classes = {0};
	uint32_t open[CTX_PHASE_CLASSES];
	struct cut cut = {.cct = cct,
			  .totals = totals,
			  .first_child = links,
			  .sibling = links != NULL ? links + cct->n : NULL,
			  .of = ctx_calloc(cct->n, sizeof(*cut.of)),
			  .open = open,
			  .nodes = classes.nodes};
	enum ctx_status status =
		totals != NULL && links != NULL && cut.of != NULL ? CTX_OK : ctx_err_nomem(err);

	if (status == CTX_OK)
		status = sum_up(&cut, histogram, err);
	if (status != CTX_OK) {
		free(cut.of);
		return status;
	}
	cut.of[CTX_TRIE_ROOT] = 1;
	cut.n = 2;
	cut.open[cut.n_open++] = CTX_TRIE_ROOT;
	while (cut.n_open != 0 && cut.n < CTX_PHASE_CLASSES)
		divide(&cut, take_heaviest(&cut));
	for (uint32_t i = 1; i < cct->n; i++) {
		if (cut.of[i] == 0)
			cut.of[i] = cut.of[cct->parent[i]];
	}
	classes.of = cut.of;
	classes.n_nodes = cct->n;
	classes.n = cut.n;
	*ret = classes;
	return CTX_OK;
}

void ctx_phase_classes_deinit(struct ctx_phase_classes *classes)
{
	free(classes->of);
	*classes = (struct ctx_phase_classes){0};
}
