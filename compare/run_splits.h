/*
 * Splits: whether the sides of several recordings differ more than any other division of the same recordings does.
 *
 *	A A A B B B   the observed split
 *	A A B A B B   one of the others: if nothing changed, it was as likely to be the largest
 *
 * A permutation test over recordings, of all rows at once: the statistic of a row is the difference of the sides'
 * means, as a multiple of a scale that is the same for all splits, and what a row is compared with is the largest one
 * of all rows in each split (Westfall and Young, 1993: step-down maxT). So the probability that any row without a change
 * is taken for changed is at most the level, whatever the distribution of the sums and however rows depend on each
 * other, if recordings are exchangeable. What it cannot do with few: of three recordings of each side there are ten
 * splits, and the smallest p is 0.1.
 */
#ifndef CTX_COMPARE_RUN_SPLITS_H
#define CTX_COMPARE_RUN_SPLITS_H

#include "base/err.h"

#include <stddef.h>

#define CTX_RUN_SPLITS_MAX 500u /* more possible ones are drawn, always the same */

struct ctx_run_splits_spec {
	const double
		*sums; /* by recording, those of side A first, each `stride` sums, of which `n` are rows */
	size_t stride, n;
	size_t n_runs[2];
	const double *scale; /* by row: a standard deviation, 0 or more; 0: the row never differs */
};

/*
 * `ret_p`: of each row, p of at least such a difference, adjusted for all rows. `*ret_n`: of splits that were looked at,
 * the observed one among them; 1 / *ret_n is the smallest p. O(splits * rows * recordings). CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_run_splits_judge(const struct ctx_run_splits_spec *spec, double *ret_p,
						    size_t *ret_n, struct ctx_err *err);

#endif
