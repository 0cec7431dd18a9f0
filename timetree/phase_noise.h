/*
 * The dispersion of samples in time: how much more neighbouring stretches of a program differ than
 * independent samples would, because a program works in turns and loops.
 */
#ifndef CTX_TIMETREE_PHASE_NOISE_H
#define CTX_TIMETREE_PHASE_NOISE_H

#include "timetree/phase_code.h"

#define CTX_PHASE_NOISE_BLOCKS 24u
#define CTX_PHASE_SCALES 8u

struct ctx_phase_noise {
	double of[CTX_PHASE_SCALES]; /* by scale: blocks of 1, 2, 4, ... bins; at least 1, descending */
	size_t n;		     /* scales; at least 1 */
};

/*
 * For blocks of 1, 2, 4, ... bins, as long as there are CTX_PHASE_NOISE_BLOCKS of them: the chi-squared
 * statistic of each block and the next one, divided by its expectation under independence; of these
 * ratios the median, which a few borders of phases do not move, less its own standard error. So for all classes
 * together and for each of the heavier ones against the others; the largest counts, and that of larger blocks too.
 *
 *	samples of one function for a while	grows with the blocks up to a limit, which is the dispersion of all scales
 *	a loop through several functions	large for blocks shorter than the loop, small for longer ones:
 *						what differs between long blocks is no noise
 *
 * Changes that are less frequent than the largest blocks are phases, more frequent ones are noise (or a
 * period: timetree/period.h). CTX_E_NOMEM. O(bins * classes).
 */
CTX_MUST_CHECK enum ctx_status ctx_phase_noise(const struct ctx_phase_counts *counts,
					       struct ctx_phase_noise *ret, struct ctx_err *err);

#endif
