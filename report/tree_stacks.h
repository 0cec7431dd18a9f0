/*
 * The call stacks that a call tree shows: as they are, from a function on (--root), upside down
 * (callers), folded for reading.
 *
 *	parts --fold, --root--> parts by folded stacks --callers--> parts by reversed stacks --> trees
 */
#ifndef CTX_REPORT_TREE_STACKS_H
#define CTX_REPORT_TREE_STACKS_H

#include "calltree/reversed.h"
#include "report/fold.h"
#include "report/part_cells.h"
#include "report/report.h"

#include <stdbool.h>

struct ctx_tree_stacks {
	/*
	 * Names and the CCT of the trees: the given profile with another CCT, and in a folded tree
	 * with functions of its own behind those of the profile. Borrows from the given one.
	 */
	struct ctx_profile profile;
	const uint32_t *instances; /* by stack: of the function (report/fold.h); NULL: 1 */
	struct ctx_part_trees trees;
	struct ctx_fold fold;
	struct ctx_reversed reversed;
	bool *of; /* owned; by function: whose callers; NULL: the leaf's */
};

struct ctx_tree_stacks_options {
	bool folds;	      /* recursion, and the kernel below the program */
	bool callers;	      /* upside down */
	const char *root;     /* NULL: none */
	const char *function; /* callers: whose; NULL: of every leaf */
	double small_percent; /* as for ctx_part_trees_build */
};

/* Builds the trees of all parts. Call ctx_tree_stacks_deinit in any case. */
CTX_MUST_CHECK enum ctx_status ctx_tree_stacks_init(struct ctx_tree_stacks *stacks,
						    const struct ctx_profile *profile,
						    const struct ctx_report_parts *parts,
						    const struct ctx_tree_stacks_options *options,
						    struct ctx_err *err);
void ctx_tree_stacks_deinit(struct ctx_tree_stacks *stacks);

#endif
