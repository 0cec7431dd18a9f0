/*
 * The length of a description of samples: what finding phases (timetree/phase_segments.h) minimises.
 *
 * The samples of a stretch of time are coded by the class of each (timetree/phase_classes.h), with a
 * Dirichlet-multinomial code: before the first sample the class c has the probability p_c that it has
 * in the whole run, and A is the number of samples by which what was seen so far outweighs that. A is
 * a power of four, or infinite: then the stretch is like the run. It is chosen for each stretch and
 * costs three bits. So a stretch that is like the run costs what it costs without phases, and one of
 * which little is known cannot look different: the expected value of two to the power of what such a
 * code saves on samples of the run is one at most, so that it saves k bits with a probability of
 * 2^-k at most. The number of classes does not matter for that.
 *
 * Neighbouring samples of a program resemble each other, so n of them are worth less than n
 * independent ones: all counts are divided by the dispersion (timetree/phase_noise.h).
 *
 * Sources: multinomial code lengths by the Dirichlet prior (Krichevsky and Trofimov 1981; Rissanen,
 * minimum description length, 1978), the bound by Markov's inequality (Ville 1939).
 */
#ifndef CTX_TIMETREE_PHASE_CODE_H
#define CTX_TIMETREE_PHASE_CODE_H

#include "base/err.h"

#include <stddef.h>

#define CTX_PHASE_CODES 8u /* values of A; the last one is infinite */

#define CTX_PHASE_CLASSES 64u /* at most */

/* Samples by bin and class. */
struct ctx_phase_counts {
	const double *cells; /* by bin: n_classes each; not negative */
	size_t n_bins, n_classes;
};

struct ctx_phase_code {
	size_t n_bins, n_classes;
	double *sums;	   /* owned; by bin and one more: counts of the bins before */
	double *prior;	   /* owned; by class: its share of all samples */
	double *constants; /* owned; by A and class: ln Gamma(A p) */
	double dispersion; /* at least 1 */
};

/* Borrows nothing. `dispersion` below 1 is 1. CTX_E_NOMEM. O(bins * classes). */
CTX_MUST_CHECK enum ctx_status ctx_phase_code_init(const struct ctx_phase_counts *counts, double dispersion,
						   struct ctx_phase_code *ret, struct ctx_err *err);
void ctx_phase_code_deinit(struct ctx_phase_code *code);

/* Bits of counts by class, without the place of the stretch. O(classes). */
double ctx_phase_code_bits(const struct ctx_phase_code *code, const double *counts);

/* The counts of the bins from `begin` up to `end`. O(classes). */
void ctx_phase_code_counts(const struct ctx_phase_code *code, size_t begin, size_t end, double *ret);

/* Bits of a segment: of its samples, and of where it begins. */
double ctx_phase_code_segment(const struct ctx_phase_code *code, size_t begin, size_t end);

/* The bits of where a segment begins, which each one costs. */
double ctx_phase_code_border(const struct ctx_phase_code *code);

/*
 * The Jensen-Shannon divergence of two histograms of the same weight, in bits (0: the same, 1: no
 * class in common), less what it is expected to be for two samples of one distribution of these
 * sizes (Miller and Madow: the classes that both have together, less one, over eight times the
 * harmonic sum of the samples, which the dispersion multiplies). Never negative; 0 if one is empty.
 */
double ctx_phase_divergence(const double *a, const double *b, size_t n_classes, double dispersion);

#endif
