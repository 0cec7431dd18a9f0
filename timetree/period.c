#include "timetree/period.h"

#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

#define LEAST_STEPS 64u
#define LEAST_LENGTH 3u /* steps */
#define HEIGHT 5.0	/* of a peak, in standard deviations of noise */
#define SECOND 2.5	/* of the peak at twice the length */
#define LEAST_STRENGTH 0.1
#define LIKE_HIGHEST 0.8 /* of the highest peak: a multiple of the period is the highest by chance */
#define LEAST_PART 0.5	 /* a distance of so much of the length is one period */

struct complex {
	double re, im;
};

static void reverse_bits(struct complex *values, size_t n)
{
	for (size_t i = 1, j = 0; i < n; i++) {
		size_t bit = n / 2;

		for (; (j & bit) != 0; bit /= 2)
			j ^= bit;
		j ^= bit;
		if (i < j) {
			struct complex kept = values[i];

			values[i] = values[j];
			values[j] = kept;
		}
	}
}

/* In place; n is a power of two; `turns` are the first half of the n-th roots of one. */
static void transform(struct complex *values, const struct complex *turns, size_t n)
{
	reverse_bits(values, n);
	for (size_t half = 1; half < n; half *= 2) {
		for (size_t i = 0; i < n; i += 2 * half) {
			for (size_t k = 0; k < half; k++) {
				struct complex a = values[i + k], b = values[i + half + k];
				struct complex turn = turns[k * (n / 2 / half)];
				struct complex odd = {b.re * turn.re - b.im * turn.im,
						      b.re * turn.im + b.im * turn.re};

				values[i + k] = (struct complex){a.re + odd.re, a.im + odd.im};
				values[i + half + k] = (struct complex){a.re - odd.re, a.im - odd.im};
			}
		}
	}
}

/*
 * The autocorrelation by lag, in `ret`, of lags below n / 2. `scratch` has n_scratch items and
 * half as many. False: the series is constant.
 */
static bool correlate(const double *series, size_t n, struct complex *scratch, size_t n_scratch, double *ret)
{
	struct complex *turns = scratch + n_scratch;
	double mean = 0, whole;

	for (size_t i = 0; i < n; i++)
		mean += series[i] / (double)n;
	for (size_t i = 0; i < n_scratch / 2; i++) {
		double angle = -2 * M_PI * (double)i / (double)n_scratch;

		turns[i] = (struct complex){cos(angle), sin(angle)};
	}
	for (size_t i = 0; i < n_scratch; i++)
		scratch[i] = (struct complex){i < n ? series[i] - mean : 0, 0};
	transform(scratch, turns, n_scratch);
	for (size_t i = 0; i < n_scratch; i++)
		scratch[i] =
			(struct complex){scratch[i].re * scratch[i].re + scratch[i].im * scratch[i].im, 0};
	transform(scratch, turns, n_scratch);
	whole = scratch[0].re / (double)n;
	if (!(whole > 1e-9))
		return false;
	for (size_t lag = 0; lag < n / 2; lag++)
		ret[lag] = scratch[lag].re / (double)(n - lag) / whole;
	return true;
}

/* The standard deviation of the autocorrelation of noise that resembles itself as the central peak says. */
static double deviation_of(const double *correlation, size_t n_lags, size_t n, size_t *ret_central)
{
	double sum = 0;
	size_t lag = 1;

	for (; lag < n_lags && correlation[lag] > 0; lag++)
		sum += correlation[lag] * correlation[lag];
	*ret_central = lag;
	return sqrt((1 + 2 * sum) / (double)n);
}

/* The highest lag around a lag, within a tenth of it. */
static size_t highest_around(const double *correlation, size_t lag)
{
	size_t reach = lag / 10 + 1, best = lag;

	for (size_t i = lag - reach; i <= lag + reach; i++)
		best = correlation[i] > correlation[best] ? i : best;
	return best;
}

static bool is_peak(const double *correlation, size_t lag)
{
	return highest_around(correlation, lag) == lag && correlation[lag] > correlation[lag - 1];
}

/* The period's lag; 0: none. Lags up to 2.5 times the last one are known. */
static size_t find_peak(const double *correlation, size_t n_lags, size_t n)
{
	size_t central, last = n / CTX_PERIOD_CYCLES;
	double deviation = deviation_of(correlation, n_lags, n, &central), highest = 0;

	for (unsigned pass = 0; pass < 2; pass++) {
		for (size_t lag = central > LEAST_LENGTH ? central : LEAST_LENGTH; lag <= last; lag++) {
			double height = correlation[lag];

			if (height < HEIGHT * deviation || height < LEAST_STRENGTH ||
			    !is_peak(correlation, lag) ||
			    correlation[highest_around(correlation, 2 * lag)] < SECOND * deviation)
				continue;
			if (pass == 1 && height >= LIKE_HIGHEST * highest)
				return lag;
			highest = height > highest ? height : highest;
		}
	}
	return 0;
}

/* Its length between two lags: the peak of a multiple that still is one, and in it the vertex of a parabola. */
static double refine(const double *correlation, size_t lag, size_t n)
{
	double length = (double)lag, low, high, bend;
	size_t at = lag, multiple = 1;

	while (multiple < CTX_PERIOD_CYCLES) {
		size_t next = (size_t)(length * (double)(multiple + 1) + 0.5);

		if (next + next / 10 + 2 >= n)
			break;
		next = highest_around(correlation, next);
		if (correlation[next] < correlation[lag] / 2)
			break;
		at = next;
		multiple++;
		length = (double)at / (double)multiple;
		if (2 * multiple > CTX_PERIOD_CYCLES / 2)
			break;
	}
	low = correlation[at - 1];
	high = correlation[at + 1];
	bend = low - 2 * correlation[at] + high;
	return bend < 0 ? ((double)at + (low - high) / (2 * bend)) / (double)multiple : length;
}

/* ---- jitter ---- */

static int ascending(const void *a, const void *b)
{
	double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

/* The distances of the times at which the smoothed series rises through its mean, in `ret`; returns how many. */
static size_t find_distances(const double *series, size_t n, double length, double *ret)
{
	size_t width = (size_t)(length / 8) + 1, n_found = 0;
	double sum = 0, before = 0, mean = 0, last = -1;

	for (size_t i = 0; i < n; i++)
		mean += series[i] * (double)width / (double)n;
	for (size_t i = 0; i < n; i++) {
		sum += series[i] - (i >= width ? series[i - width] : 0);
		if (i >= width && before <= mean && sum > mean) {
			double at = (double)i - (sum - mean) / (sum - before);

			if (last >= 0 && at - last < LEAST_PART * length)
				continue;
			if (last >= 0 && at - last < (2 - LEAST_PART) * length)
				ret[n_found++] = at - last;
			last = at;
		}
		before = sum;
	}
	return n_found;
}

/* The standard deviation by the quartiles; steps of time add a sixth of a step's square to the variance. */
static double jitter_of(double *distances, size_t n)
{
	double deviation, variance;

	if (n < 4)
		return 0;
	qsort(distances, n, sizeof(*distances), ascending);
	deviation = (distances[n * 3 / 4] - distances[n / 4]) / 1.349;
	variance = deviation * deviation - 1.0 / 6;
	return variance > 0 ? sqrt(variance) : 0;
}

enum ctx_status ctx_period_find(const double *series, size_t n, struct ctx_period *ret, struct ctx_err *err)
{
	size_t n_scratch = 1, n_lags = n / 2, lag;
	struct complex *scratch CTX_AUTO_FREE = NULL;
	double *places CTX_AUTO_FREE = NULL;
	struct ctx_period period;

	if (n < LEAST_STEPS)
		return CTX_END;
	while (n_scratch < n + n_lags)
		n_scratch *= 2;
	scratch = ctx_calloc(n_scratch + n_scratch / 2, sizeof(*scratch));
	places = ctx_calloc(n_lags + n, sizeof(*places));
	if (scratch == NULL || places == NULL)
		return ctx_err_nomem(err);
	if (!correlate(series, n, scratch, n_scratch, places))
		return CTX_END;
	lag = find_peak(places, n_lags, n);
	if (lag == 0)
		return CTX_END;
	period.length = refine(places, lag, n_lags);
	period.strength = places[lag] < 1 ? places[lag] : 1;
	period.cycles = find_distances(series, n, period.length, places + n_lags);
	if (period.cycles < CTX_PERIOD_CYCLES)
		return CTX_END; /* what peaks by chance does not come again */
	period.jitter = jitter_of(places + n_lags, period.cycles);
	*ret = period;
	return CTX_OK;
}
