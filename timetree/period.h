/*
 * The period of a series: frames, timers, collections of garbage.
 *
 * The autocorrelation of a series in equal steps of time has a peak at the length of its period, and one at twice
 * that. It is compared with what noise gives: of n steps of noise the autocorrelation varies by
 * sqrt((1 + 2 * sum r_j^2) / n), where the sum goes over the central peak, by which noise resembles itself
 * (Bartlett 1946). A peak has to be five times as high, that at twice the length half of it. The shortest length with a
 * peak of four fifths of the highest is the period: its multiples have peaks too.
 *
 * Jitter: the series, smoothed over an eighth of the period, rises through its mean once in a period; the
 * standard deviation of these distances (of the middle half, so that a missed one does not count), less what
 * steps of time add to it.
 */
#ifndef CTX_TIMETREE_PERIOD_H
#define CTX_TIMETREE_PERIOD_H

#include "base/err.h"

#include <stddef.h>

#define CTX_PERIOD_CYCLES 8u /* that a series has at least */

struct ctx_period {
	double length, jitter; /* steps */
	double strength;       /* autocorrelation at the length: 0 .. 1 */
	size_t cycles;	       /* that were seen */
};

/* CTX_END: there is none. CTX_E_NOMEM. O(n log n), by a fast Fourier transform (Cooley and Tukey 1965). */
CTX_MUST_CHECK enum ctx_status ctx_period_find(const double *series, size_t n, struct ctx_period *ret,
					       struct ctx_err *err);

#endif
