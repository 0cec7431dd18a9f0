#include "timetree/phase_noise.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_SAMPLES 6.0  /* of the mean block: below, the statistic is not like chi-squared */
#define LEAST_EXPECTED 3.0 /* of a class in a pair of blocks */
#define HEAVY 0.05	   /* share of a class that is looked at by itself */
#define MEDIAN_ERROR 2.34  /* standard error of the median of chi-squared, relative to it, times sqrt(n) */
#define LEAST_RATIOS 12u   /* of which a median is taken */

struct noise {
	double *cells;	/* by block and class */
	double *totals; /* by block */
	double *ratios;
	double *shares; /* by class: of all samples */
	size_t n_blocks, n_classes;
};

static int ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

/* The median of chi-squared with so many degrees of freedom, over its mean (Wilson and Hilferty). */
static double median_share(double freedom)
{
	double root = 1 - 2 / (9 * freedom);

	return root * root * root;
}

static double median(double *values, size_t n)
{
	qsort(values, n, sizeof(*values), ascending);
	return n % 2 != 0 ? values[n / 2] : (values[n / 2 - 1] + values[n / 2]) / 2;
}

/* The statistic of two blocks over its expectation with these margins; -1: it says nothing. */
static double ratio_of_all(const struct noise *noise, size_t block, double *ret_freedom)
{
	const double *cells = noise->cells + block * noise->n_classes, *next = cells + noise->n_classes;
	double left = noise->totals[block], right = noise->totals[block + 1], all = left + right;
	double statistic = 0, freedom = -1;

	if (left <= 0 || right <= 0 || all <= 1)
		return -1;
	for (size_t c = 0; c < noise->n_classes; c++) {
		double both = cells[c] + next[c], differs = cells[c] - both * left / all;

		if (both <= 0)
			continue;
		freedom++;
		statistic += differs * differs / both;
	}
	*ret_freedom = freedom;
	return freedom > 0 ? statistic * all * (all - 1) / (left * right) / freedom : -1;
}

/* The same of one class and the others. */
static double ratio_of_class(const struct noise *noise, size_t block, size_t c)
{
	const double *cells = noise->cells + block * noise->n_classes;
	double left = noise->totals[block], right = noise->totals[block + 1], all = left + right;
	double both = cells[c] + cells[noise->n_classes + c], rest = all - both;
	double differs;

	if (both < 2 * LEAST_EXPECTED || rest < 2 * LEAST_EXPECTED || left <= 0 || right <= 0)
		return -1;
	differs = cells[c] - both * left / all;
	return differs * differs / both * all * (all - 1) / (left * right) * all / rest;
}

/* Of one size of blocks; `c` n_classes: all classes together. 0: there are too few blocks that say anything. */
static double dispersion_of(const struct noise *noise, size_t c)
{
	size_t n = 0;
	double freedoms = 0;

	for (size_t i = 0; i + 1 < noise->n_blocks; i++) {
		double freedom = 1, ratio = c < noise->n_classes ? ratio_of_class(noise, i, c)
								 : ratio_of_all(noise, i, &freedom);

		if (ratio < 0)
			continue;
		noise->ratios[n++] = ratio;
		freedoms += freedom;
	}
	if (n < LEAST_RATIOS)
		return 0;
	return median(noise->ratios, n) / median_share(freedoms / (double)n) /
	       (1 + MEDIAN_ERROR / sqrt(freedoms));
}

/* The largest of one size of blocks. */
static double largest_of(const struct noise *noise)
{
	double largest = dispersion_of(noise, noise->n_classes);

	for (size_t c = 0; c < noise->n_classes; c++) {
		double dispersion = noise->shares[c] >= HEAVY ? dispersion_of(noise, c) : 0;

		largest = dispersion > largest ? dispersion : largest;
	}
	return largest;
}

/* Blocks of twice as many bins; one that is left over is dropped. */
static void join_blocks(struct noise *noise)
{
	size_t n = noise->n_classes;

	noise->n_blocks /= 2;
	for (size_t i = 0; i < noise->n_blocks; i++) {
		for (size_t c = 0; c < n; c++)
			noise->cells[i * n + c] =
				noise->cells[2 * i * n + c] + noise->cells[(2 * i + 1) * n + c];
		noise->totals[i] = noise->totals[2 * i] + noise->totals[2 * i + 1];
	}
}

/* noise->cells has room for everything. Returns all samples. */
static double begin(struct noise *noise, const struct ctx_phase_counts *counts)
{
	size_t n = counts->n_classes, n_bins = counts->n_bins;
	double all = 0;

	noise->totals = noise->cells + n_bins * n;
	noise->ratios = noise->cells + n_bins * (n + 1);
	noise->shares = noise->cells + n_bins * (n + 2);
	noise->n_blocks = n_bins;
	noise->n_classes = n;
	for (size_t i = 0; i < n_bins; i++) {
		for (size_t c = 0; c < n; c++) {
			double count = counts->cells[i * n + c];

			noise->cells[i * n + c] = count;
			noise->totals[i] += count;
			noise->shares[c] += count;
			all += count;
		}
	}
	for (size_t c = 0; c < n && all > 0; c++)
		noise->shares[c] /= all;
	return all;
}

enum ctx_status ctx_phase_noise(const struct ctx_phase_counts *counts, struct ctx_phase_noise *ret,
				struct ctx_err *err)
{
	/* The shares of all classes need the room of one more bin. */
	double *places CTX_AUTO_FREE =
		ctx_calloc(counts->n_bins + 1, (counts->n_classes + 3) * sizeof(*places));
	struct ctx_phase_noise found = {{1}, 1};
	struct noise noise = {.cells = places};
	double all;

	if (places == NULL)
		return ctx_err_nomem(err);
	all = begin(&noise, counts);
	for (size_t i = 0; i < CTX_PHASE_SCALES && noise.n_blocks >= CTX_PHASE_NOISE_BLOCKS; i++) {
		double dispersion = all / (double)noise.n_blocks < LEAST_SAMPLES ? 0 : largest_of(&noise);

		found.of[i] = dispersion > 1 ? dispersion : 1;
		found.n = i + 1;
		join_blocks(&noise);
	}
	for (size_t i = found.n - 1; i-- > 0;)
		found.of[i] = found.of[i] > found.of[i + 1] ? found.of[i] : found.of[i + 1];
	*ret = found;
	return CTX_OK;
}
