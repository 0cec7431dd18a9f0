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

struct ctx_runs { /* all borrowed */
	const struct ctx_runs_row *rows;
	size_t n;
	size_t n_runs[2]; /* recordings of the sides, more than 2 together */
	const double
		*sums;	/* by recording, those of side A first, each `n` sums: of the rows in their order */
	double quantum; /* mean weight of a sample: a smaller standard deviation is none */
};

/*
 * The evidence of each row. A row's variance is moderated by all others (compare/moderation.h): expected is what its
 * blocks have, and what runs differ as a share of the sum, which is the same for all rows. Needs no sums. O(n).
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_runs_judge(const struct ctx_runs *runs, struct ctx_evidence *ret,
					      struct ctx_err *err);

/*
 * Whether the sides differ in each row more than in other splits of the recordings (compare/run_splits.h); the last row
 * is a question of its own. The variance of all recordings about their mean, moderated in the same way, is the scale.
 * A row whose `ret_p` is more than ctx_runs_level(*ret_n_splits) is no evidence, whatever ctx_runs_judge says.
 */
CTX_MUST_CHECK enum ctx_status ctx_runs_split(const struct ctx_runs *runs, double *ret_p,
					      size_t *ret_n_splits, struct ctx_err *err);

/* The level of a test by `n_splits`, at least 1: 5 %, or where they are too few for that, the smallest p that there is. */
double ctx_runs_level(size_t n_splits);

#endif
