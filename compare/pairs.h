/*
 * Pairs: the error of a difference between two recordings that may have gone through the same phases.
 *
 *	side A  ____####____####____####      bins at equal shares of each recording's whole weight;
 *	side B  ____####_____####____###      blocks are cut where the item has least
 *	           |       |       |
 *
 * A program with phases does not differ by chance where both sides have the same ones. So what is measured is how
 * much the sides differ from each other, block by block, and not how much the blocks of a side differ: the sum over
 * blocks of (d - c * w * D)^2, with d the difference of a block, D of all, w the share of the item that the block
 * has on both sides, and c how far the sides agree where the item is: 1 if each block has the same share of it on
 * both, 0 if none has any on both. A change that phases share is then no noise; but bursts at other times on
 * either side are, with their whole size. Where such rests of neighbouring blocks resemble each other, their
 * covariance is added.
 *
 * Not to be seen here: how much the two whole recordings differ as one (compare/evidence.h measures that), and a
 * function that is entered once and leaves before a sixteenth of the recording is over (the df are 0).
 */
#ifndef CTX_COMPARE_PAIRS_H
#define CTX_COMPARE_PAIRS_H

#include "compare/evidence.h"

#define CTX_PAIR_BINS_MAX 512u
#define CTX_PAIR_BLOCKS 16u
#define CTX_PAIR_BINS_MIN 32u

/*
 * The error of sum(b) - sum(a): `n` bins of each, not negative, at most CTX_PAIR_BINS_MAX. Of fewer than CTX_PAIR_BINS_MIN, and of
 * an item that is in one block only, the df are 0. O(n).
 */
struct ctx_evidence_error ctx_pair_measure(const double *a, const double *b, size_t n);

#endif
