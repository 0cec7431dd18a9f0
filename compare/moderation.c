#include "compare/moderation.h"

#include <math.h>

#define ROWS_MIN 3u
#define ASYMPTOTIC 12.0 /* the series are good to 1e-13 from here on */

double ctx_digamma(double x)
{
	double shift = 0, square;

	for (; x < ASYMPTOTIC; x++)
		shift -= 1 / x;
	square = 1 / (x * x);
	return shift + log(x) - 0.5 / x -
	       square * (1.0 / 12 -
			 square * (1.0 / 120 - square * (1.0 / 252 - square * (1.0 / 240 - square / 132))));
}

double ctx_trigamma(double x)
{
	double shift = 0, square;

	for (; x < ASYMPTOTIC; x++)
		shift += 1 / (x * x);
	square = 1 / (x * x);
	return shift + 1 / x + square / 2 +
	       square / x *
		       (1.0 / 6 -
			square * (1.0 / 30 - square * (1.0 / 42 - square * (1.0 / 30 - square * 5.0 / 66))));
}

/* The x with trigamma(x) = y > 0: it falls with x. */
static double trigamma_inverse(double y)
{
	double low = 1e-6, high = 1e6;

	for (int i = 0; i < 200 && high - low > 1e-12 * high; i++) {
		double middle = sqrt(low * high);

		if (ctx_trigamma(middle) > y)
			low = middle;
		else
			high = middle;
	}
	return sqrt(low * high);
}

/* The logarithm of a ratio without the bias that its degrees of freedom give it. */
static double level(double ratio, double df)
{
	return log(ratio) - ctx_digamma(df / 2) + log(df / 2);
}

struct ctx_moderation ctx_moderation_fit(const double *ratios, size_t n, double df)
{
	struct ctx_moderation moderation = {.scale = 1};
	double mean = 0, spread = 0, rest;
	size_t used = 0;

	for (size_t i = 0; i < n; i++) {
		if (ratios[i] > 0) {
			mean += level(ratios[i], df);
			used++;
		}
	}
	if (used < ROWS_MIN || df <= 0)
		return moderation;
	mean /= (double)used;
	for (size_t i = 0; i < n; i++) {
		if (ratios[i] > 0)
			spread += (level(ratios[i], df) - mean) * (level(ratios[i], df) - mean);
	}
	/* What the rows differ beyond what so few runs make them differ. */
	rest = spread / (double)(used - 1) - ctx_trigamma(df / 2);
	moderation.df = rest > 0 ? 2 * trigamma_inverse(rest) : CTX_MODERATION_DF_MAX;
	/* Few rows that happen to differ little do not know the scale better than all their runs together. */
	moderation.df = fmin(moderation.df, fmin(CTX_MODERATION_DF_MAX, (double)(used - 1) * df));
	moderation.scale = exp(mean + ctx_digamma(moderation.df / 2) - log(moderation.df / 2));
	return moderation;
}

double ctx_moderation_variance(const struct ctx_moderation *moderation, double own, double expected,
			       double df, double *ret_df)
{
	*ret_df = df + moderation->df;
	if (*ret_df <= 0)
		return own;
	return (df * own + moderation->df * moderation->scale * expected) / *ret_df;
}
