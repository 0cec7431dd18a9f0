#include "compare/pairs.h"

#include <math.h>

#define BLOCKS CTX_PAIR_BLOCKS
#define NEIGHBOURHOOD 8 /* of a block: what the item has that close to a cut decides on its place */

/* Both sides, and what they have together. */
struct pair {
	const double *a, *b;
	size_t n;
	double both[CTX_PAIR_BINS_MAX + 1]; /* of a and b, in front of each bin */
	double sum_a, sum_b;
};

static void add_up(struct pair *pair)
{
	pair->both[0] = pair->sum_a = pair->sum_b = 0;
	for (size_t i = 0; i < pair->n; i++) {
		pair->both[i + 1] = pair->both[i] + pair->a[i] + pair->b[i];
		pair->sum_a += pair->a[i];
		pair->sum_b += pair->b[i];
	}
}

/*
 * The place of a cut, at most half a block from `wanted`: where the item has least, and of such places the nearest.
 * A phase that is cut would lie in other blocks on the two sides, as soon as something in front of it changed.
 */
static size_t cut_near(const struct pair *pair, size_t wanted, size_t block, size_t after)
{
	size_t around = block / NEIGHBOURHOOD + 1, best = 0, nearest = 0;
	size_t first = wanted - block / 2, last = wanted + block / 2;
	double equal = 1e-9 * pair->both[pair->n], least = INFINITY;

	first = first > after ? first : after + 1;
	last = last < pair->n ? last : pair->n - 1;
	for (size_t at = first; at <= last; at++) {
		size_t begin = at > around ? at - around : 0;
		size_t end = at + around < pair->n ? at + around : pair->n;
		size_t away = at > wanted ? at - wanted : wanted - at;
		double here = pair->both[end] - pair->both[begin];

		if (here < least - equal || (here <= least + equal && away < nearest)) {
			least = here;
			best = at;
			nearest = away;
		}
	}
	return best != 0 ? best : wanted;
}

static void cut(const struct pair *pair, size_t cuts[BLOCKS + 1])
{
	size_t block = pair->n / BLOCKS;

	cuts[0] = 0;
	for (size_t i = 1; i < BLOCKS; i++)
		cuts[i] = cut_near(pair, pair->n * i / BLOCKS, block, cuts[i - 1]);
	cuts[BLOCKS] = pair->n;
}

static double sum_of(const double *bins, size_t begin, size_t end)
{
	double sum = 0;

	for (size_t i = begin; i < end; i++)
		sum += bins[i];
	return sum;
}

struct ctx_evidence_error ctx_pair_measure(const double *a, const double *b, size_t n)
{
	struct pair pair = {.a = a, .b = b, .n = n};
	struct ctx_evidence_error error = {0};
	double differences[BLOCKS], shares[BLOCKS], rests[BLOCKS];
	double apart = 0, agreement, squares = 0, taken, mean = 0, neighbours = 0;
	size_t cuts[BLOCKS + 1];

	if (n < CTX_PAIR_BINS_MIN || n > CTX_PAIR_BINS_MAX)
		return error;
	add_up(&pair);
	if (!(pair.both[n] > 0))
		return error;
	cut(&pair, cuts);
	for (size_t i = 0; i < BLOCKS; i++) {
		double of_a = sum_of(a, cuts[i], cuts[i + 1]), of_b = sum_of(b, cuts[i], cuts[i + 1]);

		differences[i] = of_b - of_a;
		shares[i] = (of_a + of_b) / pair.both[n];
		squares += shares[i] * shares[i];
		apart += fabs((pair.sum_a > 0 ? of_a / pair.sum_a : 0) -
			      (pair.sum_b > 0 ? of_b / pair.sum_b : 0)) /
			 2;
	}
	agreement = pair.sum_a > 0 && pair.sum_b > 0 ? 1 - apart : 0;
	for (size_t i = 0; i < BLOCKS; i++) {
		rests[i] = differences[i] - agreement * shares[i] * (pair.sum_b - pair.sum_a);
		error.variance += rests[i] * rests[i];
		mean += rests[i] / BLOCKS;
	}
	/* A load that drifts slowly is alike in blocks next to each other. */
	for (size_t i = 1; i < BLOCKS; i++)
		neighbours += (rests[i - 1] - mean) * (rests[i] - mean);
	error.variance += 2 * fmax(neighbours, 0);
	/* The change itself was taken from the same blocks. */
	taken = (2 - agreement) * agreement * squares;
	error.df = 1 / squares - 1;
	if (taken < 1)
		error.variance /= 1 - taken;
	/* As good as one block. */
	if (error.df < 0.5)
		error.df = 0;
	return error;
}
