/*
 * Call trees from a histogram: level, recursion level, calls, base, cum; the flat profile;
 * gprof-style stanzas.
 *
 * Source: requirements C1, C3-C7, E10. Pure and in memory: a function of (CCT, histogram). Nodes
 * are made only of stacks that the histogram touches, and their ancestors.
 *
 * A node is one call stack of functions. base is the weight of samples that ended exactly there,
 * cum that of the whole subtree. calls is how often the node was entered, as far as the samples
 * show. recursion_level is the number of instances of the same function above the node.
 */
#ifndef CTX_CALLTREE_CALLTREE_H
#define CTX_CALLTREE_CALLTREE_H

#include "model/histogram.h"
#include "model/trie.h"

#include <stdint.h>

#define CTX_CALLTREE_NONE UINT32_MAX

struct ctx_calltree_node {
	uint32_t stack;	       /* CCT node */
	uint32_t function;     /* CTX_TRIE_ROOT_KEY for the root */
	uint32_t parent;       /* node index; CTX_CALLTREE_NONE for the root */
	uint32_t first_child;  /* heaviest first; CTX_CALLTREE_NONE: none */
	uint32_t next_sibling; /* CTX_CALLTREE_NONE: last */
	uint32_t
		next_instance; /* the next node of the same function, in index order; CTX_CALLTREE_NONE: last */
	uint32_t level;	       /* root: 0 */
	uint32_t recursion_level;
	uint64_t base, cum; /* weight */
	uint64_t base_samples, cum_samples;
	int64_t calls;
};

struct ctx_calltree {
	struct ctx_calltree_node *
		nodes; /* owned; depth first, siblings by descending cum, ties by ascending stack id; nodes[0] is the root */
	uint32_t n;
	uint32_t *first_instance; /* by function id; CTX_CALLTREE_NONE: not in the tree */
	uint32_t n_functions;
};

/*
 * Builds the tree of a histogram. `n_functions` is one more than the largest function id. An empty
 * histogram gives only the root. O(touched nodes * log of siblings + cct nodes / 8). Fails with
 * CTX_E_NOMEM, CTX_E_ARG (a stack id that is not in the CCT).
 */
CTX_MUST_CHECK enum ctx_status ctx_calltree_build(const struct ctx_trie *cct, uint32_t n_functions,
						  const struct ctx_histogram *histogram,
						  struct ctx_calltree *ret, struct ctx_err *err);
void ctx_calltree_deinit(struct ctx_calltree *tree);

/* Asserts the invariants of links, levels and sums; CTX_E_INTERNAL with the node and the rule. */
CTX_MUST_CHECK enum ctx_status ctx_calltree_check(const struct ctx_calltree *tree, struct ctx_err *err);

/*
 * One function over the whole tree. A sample counts once in inclusive, however often the function
 * recurs (E10).
 */
struct ctx_flat_row {
	uint32_t function;
	uint64_t base, cum; /* exclusive, inclusive */
	uint64_t base_samples, cum_samples;
	int64_t calls;
};

struct ctx_flat {
	struct ctx_flat_row *rows; /* owned; by descending base, then cum, then ascending function id */
	uint32_t n;
	uint64_t weight, samples; /* of <Total> */
};

CTX_MUST_CHECK enum ctx_status ctx_flat_build(const struct ctx_calltree *tree, struct ctx_flat *ret,
					      struct ctx_err *err);
void ctx_flat_deinit(struct ctx_flat *flat);

/*
 * Stanzas: for every function its callers, itself, its callees. The invariants of C7 hold for every
 * function, recursive ones included:
 *   sum of parents' calls = self calls
 *   sum of parents' base = self base
 *   sum of parents' cum = self cum
 *   children's cum + self base = self cum
 * For this each sample below a function is attributed once: to the caller of the outermost
 * instance, and to the callee of the innermost one.
 *  - A parent row has the calls and base of all instances with that caller, and the cum of those
 *    with recursion level 0. A function that calls itself is its own parent, with cum 0.
 *  - A child row has the calls and base of all nodes of the child right below an instance of self,
 *    and the cum of the samples whose innermost instance of self has that child on the path to the
 *    leaf.
 * The root's function is CTX_TRIE_ROOT_KEY (<Total>): it is the parent of thread roots, and its
 * stanza has no parents.
 */
struct ctx_edge_row {
	uint32_t function; /* the parent or child */
	int64_t calls;
	uint64_t base, cum;
	uint64_t base_samples, cum_samples;
};

struct ctx_stanza {
	struct ctx_flat_row self;
	struct ctx_edge_row *
		parents; /* borrowed from the set; by descending cum, then base, then ascending function id */
	struct ctx_edge_row *children;
	uint32_t n_parents, n_children;
};

struct ctx_stanzas {
	struct ctx_stanza *
		stanzas; /* owned; by descending cum, then base, then ascending function id (<Total> first) */
	uint32_t n;
	struct ctx_edge_row *edges; /* owned: all rows */
};

/* O(nodes) time and memory (plus sorting). */
CTX_MUST_CHECK enum ctx_status ctx_stanzas_build(const struct ctx_calltree *tree, struct ctx_stanzas *ret,
						 struct ctx_err *err);
void ctx_stanzas_deinit(struct ctx_stanzas *stanzas);

/* Asserts the four invariants of C7; CTX_E_INTERNAL with the function id and the rule. */
CTX_MUST_CHECK enum ctx_status ctx_stanzas_check(const struct ctx_stanzas *stanzas, struct ctx_err *err);

#endif
