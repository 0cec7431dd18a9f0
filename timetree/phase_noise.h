/*
 * The dispersion of samples in time: how much more neighbouring stretches of a program differ than
 * independent samples would, because a program works in turns and loops.
 */
#ifndef CTX_TIMETREE_PHASE_NOISE_H
#define CTX_TIMETREE_PHASE_NOISE_H

#include "timetree/phase_code.h"

/*
 * For blocks of 1, 2, 4, ... bins, as long as there are CTX_PHASE_NOISE_BLOCKS of them: the chi-squared
 * statistic of each block and the next one, divided by its expectation under independence; of these
 * ratios the median, which a few borders of phases do not move. So for all classes together and for
 * each of the heavier ones against the others. The largest of all is the dispersion, at least 1: that
 * of the longest turns, and of the class with the most of them.
 *
 * Changes that are less frequent than the blocks at the largest size are phases, more frequent
 * ones are noise (or a period: timetree/period.h). `counts` borrowed. CTX_E_NOMEM.
 * O(bins * classes).
 */
#define CTX_PHASE_NOISE_BLOCKS 24u

CTX_MUST_CHECK enum ctx_status ctx_phase_noise(const struct ctx_phase_counts *counts, double *ret,
					       struct ctx_err *err);

#endif
