/*
 * Rows of two sides of which one at least has several recordings: what differs between these says what is chance.
 */
#ifndef CTX_COMPARE_RUNS_H
#define CTX_COMPARE_RUNS_H

#include "compare/evidence.h"

/* What the recordings say of one row. */
struct ctx_runs_row {
	double mean[2];	 /* of each side's sums */
	double variance; /* of a recording's sum about its side's mean: of both sides together */
	double within;	 /* the same as blocks inside the recordings have it: the mean */
	bool apart;	 /* it differs from run to run as other rows do not, and counts by itself */
};

/*
 * The evidence of each row. A row's variance is moderated by all others (compare/moderation.h): expected is what its
 * blocks have, and what runs differ as a share of the sum, which is the same for all rows. `n_runs` are the numbers
 * of recordings of the sides, more than 2 together. O(n). CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_runs_judge(const struct ctx_runs_row *rows, size_t n,
					      const size_t n_runs[2], struct ctx_evidence *ret,
					      struct ctx_err *err);

#endif
