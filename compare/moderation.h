/*
 * Moderation: what the runs of a few recordings say about chance, for many rows at once.
 *
 * With three recordings of each side a row's own variance has four degrees of freedom, and tells next to nothing. But
 * all rows have been through the same runs: their variances, each as a multiple of what is expected of it, are taken
 * as draws from one distribution (a scaled inverse chi-square), whose scale and degrees of freedom follow from
 * all rows; a row's variance is then the mean of its own and that scale, weighted by degrees of freedom (empirical
 * Bayes: Smyth, 2004). Rows that differ as they like from others, make the distribution wide, and count by themselves.
 */
#ifndef CTX_COMPARE_MODERATION_H
#define CTX_COMPARE_MODERATION_H

#include <stddef.h>

/* What all rows say together. */
struct ctx_moderation {
	double scale; /* of a variance to what is expected of it */
	double df;    /* the weight of the scale; 0: none, a row counts by itself */
};

#define CTX_MODERATION_DF_MAX 100.0 /* no more than so much certainty from other rows */

/*
 * `ratios`: of each row, its variance to what is expected of it; those that are not positive are left out. `df`: of
 * each variance. Fewer than three rows say nothing; the df are no more than those of all rows but one together. O(n).
 */
struct ctx_moderation ctx_moderation_fit(const double *ratios, size_t n, double df);

/* The moderated variance of a row with a variance of its own with `df`, and `*ret_df`. */
double ctx_moderation_variance(const struct ctx_moderation *moderation, double own, double expected,
			       double df, double *ret_df);

/* The derivative of the logarithm of the gamma function, and its own derivative; x > 0. */
double ctx_digamma(double x);
double ctx_trigamma(double x);

#endif
