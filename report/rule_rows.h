/*
 * The rows that rules are applied to (rules/rules.h), of one side or of two, each of one or several recordings.
 *
 *	functions, load objects   compare/diff.h: evidence and verdicts as in the report
 *	lines, threads            sums by name
 *	states, waits, heap, run  report/rule_figures.h
 *
 * The last two kinds of rows have evidence where a side has several recordings: Student's test of their sums, and of
 * many rows those with a verdict as in a comparison.
 */
#ifndef CTX_REPORT_RULE_ROWS_H
#define CTX_REPORT_RULE_ROWS_H

#include "compare/diff.h"
#include "rules/rules.h"

struct ctx_rule_world; /* the rows and what they point to */

struct ctx_rule_world_spec {
	const struct ctx_rules *rules;
	struct ctx_diff_side sides[CTX_COMPARE_SIDES]; /* of A `n` may be 0: no comparison */
	const struct ctx_renames *renames;	       /* borrowed; NULL: none */
	const struct ctx_weighting *per_count;	       /* units of work; borrowed; NULL: not known */
};

/*
 * What the rules need of the sides, borrowed until it is destroyed. What cannot be made because a
 * recording has none of it is `missing` in its table. CTX_E_ARG, CTX_E_NOTFOUND: what is asked of recordings that do not have it
 * (lines of an archived run, metrics that differ). CTX_E_NOMEM, and what a source
 * fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_rule_world_make(const struct ctx_rule_world_spec *spec,
						   struct ctx_rule_world **ret, struct ctx_err *err);
/* NULL is fine. */
void ctx_rule_world_destroy(struct ctx_rule_world *world);

const struct ctx_rule_rows *ctx_rule_world_rows(const struct ctx_rule_world *world);

#endif
