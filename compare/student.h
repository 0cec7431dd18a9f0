/*
 * Student's t distribution, for confidence intervals and tests. Relative errors are below 1e-9.
 */
#ifndef CTX_COMPARE_STUDENT_H
#define CTX_COMPARE_STUDENT_H

/* The probability of a value at least as far from 0 as `t`. `df` > 0, also fractional; infinite: normal. */
double ctx_student_two_sided(double t, double df);

/* The value below which the share `p` of the distribution lies; 0 < p < 1. */
double ctx_student_quantile(double p, double df);

#endif
