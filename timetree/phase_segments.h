/*
 * Phases: stretches of a run in which a program does the same, found by themselves.
 *
 * The run is divided into bins of the same length, with a histogram of call stacks each
 * (timetree/phase_bins.h). Neighbours that diverge least are merged, from single bins up to the whole
 * run; of all these divisions the one is taken whose description is the shortest
 * (timetree/phase_code.h), so that the number of phases follows from the samples:
 *
 *	bins       | a a a a a a b b b b b b b a a a a |
 *	merged     |   a a   | a |   b b   |  b |  a a |     the pair with the least n * JSD first
 *	shortest   |     A       |      B       |   A  |     then borders are moved, put in, taken out
 *
 * A merge costs the samples of both times their Jensen-Shannon divergence (in proportion to the
 * samples), which is by how much a common description is longer. Borders of which the sides diverge by less than
 * CTX_PHASE_LEAST_DIVERGENCE are none, however many samples prove that they differ. Phases that are
 * alike have the same letter.
 *
 * Sources: Jensen-Shannon divergence (Lin 1991), its use for dividing sequences (Bernaola-Galvan and
 * others 1996), minimum description length (Rissanen 1978), phases of programs that recur (Sherwood
 * and others 2002).
 */
#ifndef CTX_TIMETREE_PHASE_SEGMENTS_H
#define CTX_TIMETREE_PHASE_SEGMENTS_H

#include "timetree/phase_code.h"

#include <stdint.h>

#define CTX_PHASE_LEAST_DIVERGENCE 0.03 /* bits: two functions at 50 and 50 %, then at 70 and 30 % */

struct ctx_phase_segment {
	size_t begin, end; /* bins */
	uint32_t letter;   /* from 0, in order of first appearance */
};

struct ctx_phase_segments {
	struct ctx_phase_segment *items; /* owned; they tile the bins */
	size_t n;
	uint32_t n_letters;
	double *similarity; /* owned; n_letters * n_letters: 1 less the divergence */
	double dispersion;  /* timetree/phase_noise.h */
	double bits;	    /* of the description */
};

/*
 * Divides the bins; without samples into one segment, without bins into none. The answer depends on
 * the counts alone. CTX_E_NOMEM. O(bins * bins + bins * classes * segments).
 */
CTX_MUST_CHECK enum ctx_status ctx_phases_find(const struct ctx_phase_counts *counts,
					       struct ctx_phase_segments *ret, struct ctx_err *err);
void ctx_phase_segments_deinit(struct ctx_phase_segments *segments);

#endif
