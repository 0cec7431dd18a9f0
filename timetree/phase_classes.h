/*
 * Classes of call stacks for finding phases: a cut through the calling-context tree, so that a few
 * dozen classes say where a program spends its time, however many functions it has.
 *
 *	main 100        one class for main; then, the heaviest first, a class gives each of its heavier
 *	|- parse 40     children a class of its own, as long as there are classes left. What remains in it
 *	|  `- read 39   are the function itself and the lighter children.
 *	`- solve 60
 */
#ifndef CTX_TIMETREE_PHASE_CLASSES_H
#define CTX_TIMETREE_PHASE_CLASSES_H

#include "model/histogram.h"
#include "timetree/phase_code.h"

#define CTX_PHASE_IDLE 0u /* the class of time without samples (timetree/phase_bins.h) */

struct ctx_phase_classes {
	uint32_t *of; /* owned; by CCT node: its class, from 1 */
	uint32_t n_nodes;
	uint32_t n;			   /* with the class of idle time; at most CTX_PHASE_CLASSES */
	uint32_t nodes[CTX_PHASE_CLASSES]; /* by class: the deepest node that it is of */
};

/*
 * Of the samples of a histogram by CCT node. A child has to have eight of them, and one in a thousand.
 * CTX_E_NOMEM; CTX_E_FORMAT: a stack that is not in the tree. O(nodes + entries).
 */
CTX_MUST_CHECK enum ctx_status ctx_phase_classes_make(const struct ctx_trie *cct,
						      const struct ctx_histogram *histogram,
						      struct ctx_phase_classes *ret, struct ctx_err *err);
void ctx_phase_classes_deinit(struct ctx_phase_classes *classes);

#endif
