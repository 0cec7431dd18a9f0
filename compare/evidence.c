#include "compare/evidence.h"

#include "base/mem.h"
#include "compare/student.h"

#include <math.h>
#include <stdlib.h>

#define INSIGNIFICANT_LAGS 5 /* so many in a row end the search for correlated ones */
#define BLOCKS_MIN 6	     /* fewer say nothing about a variance */
#define BLOCKS_WANTED 8	     /* however long the bins of a recording resemble each other */

static double mean_of(const struct ctx_evidence_lane *lane)
{
	double sum = 0;

	for (size_t i = 0; i < lane->n; i++)
		sum += lane->bins[i];
	return lane->n != 0 ? sum / (double)lane->n : 0;
}

static size_t count(const struct ctx_evidence_lane *lanes, size_t n_lanes)
{
	size_t n = 0;

	for (size_t i = 0; i < n_lanes; i++)
		n += lanes[i].n;
	return n;
}

/* Autocovariance at a lag, each lane about its own mean. */
static double covariance(const struct ctx_evidence_lane *lanes, size_t n_lanes, size_t lag)
{
	double sum = 0;

	for (size_t i = 0; i < n_lanes; i++) {
		const double *bins = lanes[i].bins;
		double mean = mean_of(&lanes[i]);

		for (size_t t = 0; t + lag < lanes[i].n; t++)
			sum += (bins[t] - mean) * (bins[t + lag] - mean);
	}
	return sum / (double)count(lanes, n_lanes);
}

/* The last lag of correlation: behind it are five without. */
static size_t correlated_lags(const struct ctx_evidence_lane *lanes, size_t n_lanes, size_t lags_max)
{
	double n = (double)count(lanes, n_lanes);
	double limit = 2 * sqrt(log10(n) / n) * covariance(lanes, n_lanes, 0);
	size_t last = 0, quiet = 0;

	for (size_t lag = 1; lag <= lags_max && quiet < INSIGNIFICANT_LAGS; lag++) {
		quiet++;
		if (fabs(covariance(lanes, n_lanes, lag)) > limit) {
			last = lag;
			quiet = 0;
		}
	}
	return last;
}

size_t ctx_evidence_block_length(const struct ctx_evidence_lane *lanes, size_t n_lanes)
{
	size_t n = count(lanes, n_lanes), lags_max, window;
	double spectrum = 0, slope = 0, length, most;

	if (n < 3)
		return 1;
	lags_max = (size_t)ceil(sqrt((double)n)) + INSIGNIFICANT_LAGS;
	window = 2 * correlated_lags(lanes, n_lanes, lags_max);
	window = window < lags_max ? window : lags_max;
	spectrum = covariance(lanes, n_lanes, 0);
	/* A flat-top window: full weight to its middle, then falling to 0. */
	for (size_t lag = 1; lag <= window; lag++) {
		double at = (double)lag / (double)window, weight = at <= 0.5 ? 1 : 2 * (1 - at);
		double here = 2 * weight * covariance(lanes, n_lanes, lag);

		spectrum += here;
		slope += (double)lag * here;
	}
	/* Bins that make up for each other: single ones overstate the variance, which is the safe side. */
	if (spectrum <= 0 || slope <= 0)
		return 1;
	most = fmin(ceil(3 * sqrt((double)n)), floor((double)n / BLOCKS_WANTED));
	length = cbrt(1.5 * (slope / spectrum) * (slope / spectrum) * (double)n);
	return (size_t)fmax(fmin(ceil(length), most), 1);
}

/*
 * The variance of the sum of a lane, drawn as blocks from a circle: that of the sums of all its circular blocks,
 * times the number of blocks. A lane that is no longer than a block has no variance within.
 */
static double lane_variance(const struct ctx_evidence_lane *lane, size_t length)
{
	double mean = mean_of(lane) * (double)length, block = 0, squares = 0;
	double n = (double)lane->n;

	if (lane->n <= length)
		return 0;
	for (size_t i = 0; i < length; i++)
		block += lane->bins[i];
	for (size_t i = 0; i < lane->n; i++) {
		squares += (block - mean) * (block - mean);
		block += lane->bins[(i + length) % lane->n] - lane->bins[i];
	}
	/* n / (n - length): the mean was taken from the same bins. */
	return squares / (double)length * n / (n - (double)length);
}

struct ctx_evidence_side ctx_evidence_measure(const struct ctx_evidence_lane *lanes, size_t n_lanes,
					      double quantum)
{
	struct ctx_evidence_side side = {.length = ctx_evidence_block_length(lanes, n_lanes),
					 .variance = quantum * quantum};
	size_t used = 0;

	for (size_t i = 0; i < n_lanes; i++) {
		side.sum += mean_of(&lanes[i]) * (double)lanes[i].n;
		if (lanes[i].n <= side.length)
			continue;
		side.variance += lane_variance(&lanes[i], side.length);
		side.blocks += lanes[i].n / side.length;
		used++;
	}
	if (side.blocks >= BLOCKS_MIN + used)
		side.df = (double)(side.blocks - used);
	return side;
}

void ctx_evidence_side_blur(struct ctx_evidence_side *side, double share)
{
	double error = share * side->sum, blurred = side->variance + error * error;

	/* Satterthwaite: the degrees of freedom of a sum of variances of which one is known. */
	if (side->variance > 0)
		side->df *= blurred / side->variance * (blurred / side->variance);
	side->variance = blurred;
}

struct ctx_evidence ctx_evidence_of(double change, double variance, double df)
{
	struct ctx_evidence evidence = {
		.change = change, .low = -INFINITY, .high = INFINITY, .p = 1, .detectable = INFINITY};
	double error = sqrt(variance), t;

	if (!(variance > 0) || !(df > 0))
		return evidence;
	t = ctx_student_quantile(0.975, df);
	evidence.low = change - t * error;
	evidence.high = change + t * error;
	evidence.p = ctx_student_two_sided(change / error, df);
	evidence.detectable = (t + ctx_student_quantile(0.8, df)) * error;
	return evidence;
}

struct ctx_evidence ctx_evidence_compare(const struct ctx_evidence_side *a, const struct ctx_evidence_side *b)
{
	double variance = a->variance + b->variance, df = 0;

	if (a->df > 0 && b->df > 0)
		df = variance * variance /
		     (a->variance * a->variance / a->df + b->variance * b->variance / b->df);
	return ctx_evidence_of(b->sum - a->sum, variance, df);
}

static int by_value(const void *left, const void *right)
{
	double a = *(const double *)left, b = *(const double *)right;

	return (a > b) - (a < b);
}

enum ctx_status ctx_evidence_keep(const double *p, size_t n, double rate, bool *keep, struct ctx_err *err)
{
	double *sorted CTX_AUTO_FREE = ctx_calloc(n, sizeof(*sorted));
	double largest = -1;

	if (sorted == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++)
		sorted[i] = p[i];
	if (n != 0)
		qsort(sorted, n, sizeof(*sorted), by_value);
	for (size_t i = 0; i < n; i++) {
		if (sorted[i] <= rate * (double)(i + 1) / (double)n)
			largest = sorted[i];
	}
	for (size_t i = 0; i < n; i++)
		keep[i] = p[i] <= largest;
	return CTX_OK;
}
