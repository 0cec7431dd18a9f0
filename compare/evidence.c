#include "compare/evidence.h"

#include "base/mem.h"
#include "compare/student.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>

#define INSIGNIFICANT_LAGS 5 /* so many in a row end the search for correlated ones */
#define LAGS_MAX 256	     /* of 63,000 bins; more are not looked for */
#define BLOCKS_MIN 6	     /* fewer say nothing about a variance */
#define BLOCKS_WANTED 8	     /* however long the bins of a recording resemble each other */

static double mean_of(const struct ctx_evidence_lane *lane)
{
	double sum = 0;

	for (size_t i = 0; i < lane->n; i++)
		sum += lane->bins[i];
	return lane->n != 0 ? sum / (double)lane->n : 0;
}

/* Lanes, with what is asked of them again and again. */
struct series {
	const struct ctx_evidence_lane *lanes;
	size_t n_lanes;
	size_t n; /* bins */
	double means[CTX_EVIDENCE_LANES_MAX];
	double covariances[LAGS_MAX + 1];
	size_t n_known; /* of covariances */
};

static struct series series_of(const struct ctx_evidence_lane *lanes, size_t n_lanes)
{
	struct series series = {.lanes = lanes, .n_lanes = n_lanes};

	assert(n_lanes <= CTX_EVIDENCE_LANES_MAX);
	for (size_t i = 0; i < n_lanes; i++) {
		series.n += lanes[i].n;
		series.means[i] = mean_of(&lanes[i]);
	}
	return series;
}

/* Autocovariance at a lag, each lane about its own mean. */
static double covariance_of(const struct series *series, size_t lag)
{
	double sum = 0;

	for (size_t i = 0; i < series->n_lanes; i++) {
		const double *bins = series->lanes[i].bins;
		double mean = series->means[i];

		for (size_t t = 0; t + lag < series->lanes[i].n; t++)
			sum += (bins[t] - mean) * (bins[t + lag] - mean);
	}
	return sum / (double)series->n;
}

/* The same, computed once. `lag` is at most LAGS_MAX. */
static double covariance(struct series *series, size_t lag)
{
	while (series->n_known <= lag) {
		series->covariances[series->n_known] = covariance_of(series, series->n_known);
		series->n_known++;
	}
	return series->covariances[lag];
}

/* The last lag of correlation: behind it are five without. */
static size_t correlated_lags(struct series *series, size_t lags_max)
{
	double n = (double)series->n;
	double limit = 2 * sqrt(log10(n) / n) * covariance(series, 0);
	size_t last = 0, quiet = 0;

	for (size_t lag = 1; lag <= lags_max && quiet < INSIGNIFICANT_LAGS; lag++) {
		quiet++;
		if (fabs(covariance(series, lag)) > limit) {
			last = lag;
			quiet = 0;
		}
	}
	return last;
}

static size_t block_length(struct series *series)
{
	size_t n = series->n, lags_max, window;
	double spectrum = 0, slope = 0, length, most;

	if (n < 3)
		return 1;
	lags_max = (size_t)ceil(sqrt((double)n)) + INSIGNIFICANT_LAGS;
	lags_max = lags_max < LAGS_MAX ? lags_max : LAGS_MAX;
	window = 2 * correlated_lags(series, lags_max);
	window = window < lags_max ? window : lags_max;
	spectrum = covariance(series, 0);
	/* A flat-top window: full weight to its middle, then falling to 0. */
	for (size_t lag = 1; lag <= window; lag++) {
		double at = (double)lag / (double)window, weight = at <= 0.5 ? 1 : 2 * (1 - at);
		double here = 2 * weight * covariance(series, lag);

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
static double lane_variance(const struct ctx_evidence_lane *lane, double bin_mean, size_t length)
{
	double mean = bin_mean * (double)length, block = 0, squares = 0;
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
	struct series series = series_of(lanes, n_lanes);
	struct ctx_evidence_side side = {.length = block_length(&series), .variance = quantum * quantum};
	size_t used = 0;

	for (size_t i = 0; i < n_lanes; i++) {
		side.sum += series.means[i] * (double)lanes[i].n;
		if (lanes[i].n <= side.length)
			continue;
		side.variance += lane_variance(&lanes[i], series.means[i], side.length);
		side.blocks += lanes[i].n / side.length;
		used++;
	}
	if (side.blocks >= BLOCKS_MIN + used)
		side.df = (double)(side.blocks - used);
	return side;
}

/* Satterthwaite: the degrees of freedom of a sum of variances. */
void ctx_evidence_error_add(struct ctx_evidence_error *error, const struct ctx_evidence_error *more)
{
	double one = error->variance, other = more->variance, sum = one + other;

	if (!(error->df > 0) || !(more->df > 0))
		error->df = 0;
	else if (sum > 0)
		error->df = sum * sum / (one * one / error->df + other * other / more->df);
	error->variance = sum;
}

void ctx_evidence_error_add_known(struct ctx_evidence_error *error, double variance)
{
	double sum = error->variance + variance;

	/* The same with a variance of infinitely many. */
	if (error->variance > 0)
		error->df *= sum / error->variance * (sum / error->variance);
	error->variance = sum;
}

void ctx_evidence_error_add_bound(struct ctx_evidence_error *error, const struct ctx_evidence_error *more)
{
	double one = sqrt(error->variance), other = sqrt(more->variance), sum = one + other;

	/* The same of standard deviations: the relative variance of each is 1 / (2 df). */
	if (!(error->df > 0) || !(more->df > 0))
		error->df = 0;
	else if (sum > 0)
		error->df = sum * sum / (error->variance / error->df + more->variance / more->df);
	error->variance = sum * sum;
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
