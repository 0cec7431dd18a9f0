/*
 * Evidence: whether the sums of two sides differ by more than noise.
 *
 *	lanes of bins --ctx_evidence_measure--> sum, error --+
 *	what else is not certain ------------------> errors --+--ctx_evidence_of--> change, interval, p
 *	                                          many p --ctx_evidence_keep--> which of them count
 *
 * What is compared is the sum of one item (the self time of a function) over a recording. A recording is cut
 * into bins of time, those of one thread in order of time being a lane. Bins next to each other resemble each
 * other, so that they are no independent observations: the variance of the sum is that of the circular block
 * bootstrap (Politis and Romano, 1992), which draws blocks of several bins. It is computed in closed form, the
 * limit of infinitely many draws, so that the same input gives the same bytes. The length of the blocks
 * follows from the autocorrelation (Politis and White, 2004, as corrected by Patton, Politis and White, 2009).
 *
 * Pure numbers; nothing allocates but ctx_evidence_keep.
 */
#ifndef CTX_COMPARE_EVIDENCE_H
#define CTX_COMPARE_EVIDENCE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define CTX_EVIDENCE_LANES_MAX 16u

/* Bins that follow each other; borrowed. */
struct ctx_evidence_lane {
	const double *bins;
	size_t n;
};

struct ctx_evidence_side {
	double sum;
	double variance; /* of the sum */
	double df;	 /* degrees of freedom of the variance; 0: too few blocks to know it */
	size_t length;	 /* of a block, in bins: at least 1, at most an eighth of all */
	size_t blocks;	 /* independent ones, of all lanes together */
};

/*
 * At most CTX_EVIDENCE_LANES_MAX lanes. `quantum` is the weight of one observation (a sample's period): the
 * variance is at least that of one observation more, which keeps counts of very few from being taken for
 * certain. O(bins * sqrt(bins)) for the block length, O(bins) for the rest.
 */
struct ctx_evidence_side ctx_evidence_measure(const struct ctx_evidence_lane *lanes, size_t n_lanes,
					      double quantum);

/* The error of a sum or a difference. */
struct ctx_evidence_error {
	double variance;
	double df; /* degrees of freedom of the variance; 0: not known */
};

/* Adds an independent error. An error whose df is 0 makes the df 0. */
void ctx_evidence_error_add(struct ctx_evidence_error *error, const struct ctx_evidence_error *more);

/*
 * Adds an independent variance that is known for certain. For a single recording: how much the next run of the
 * program would differ is assumed, since no part of the recording tells it.
 */
void ctx_evidence_error_add_known(struct ctx_evidence_error *error, double variance);

/*
 * Adds an error that may be correlated with this one in an unknown way: the standard deviations are added,
 * which is the most that they can be together. An error whose df is 0 makes the df 0.
 */
void ctx_evidence_error_add_bound(struct ctx_evidence_error *error, const struct ctx_evidence_error *more);

struct ctx_evidence {
	double change;	  /* b - a */
	double low, high; /* its 95 % confidence interval; infinite where a side has too few blocks */
	double p;	  /* of a change at least this large if nothing changed; 1 where that is not known */
	double detectable; /* the change that would be found in 80 % of such comparisons, at 5 %; infinite: none */
};

/* Of a change with a variance that is known with `df`; these not positive: no evidence. */
struct ctx_evidence ctx_evidence_of(double change, double variance, double df);

/*
 * Which of many tests count (Benjamini and Hochberg, 1995): of those that are kept, at most the share `rate`
 * is expected to be by chance. `keep` has n flags. O(n log n). CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_evidence_keep(const double *p, size_t n, double rate, bool *keep,
						 struct ctx_err *err);

#endif
