#include "compare/student.h"

#include <float.h>
#include <math.h>
#include <stdbool.h>

#define STEPS_MAX 500 /* the fraction converges within some sqrt(df) steps */
#define NORMAL_DF 1e7

static double away_from_zero(double x)
{
	return fabs(x) < DBL_MIN ? DBL_MIN : x;
}

/* The continued fraction of the incomplete beta function, by Lentz's method (DLMF 8.17.22). */
static double beta_fraction(double a, double b, double x)
{
	double c = 1, d = 1 / away_from_zero(1 - (a + b) * x / (a + 1)), value = d;

	for (int m = 1; m <= STEPS_MAX; m++) {
		double even = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m));
		double odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1)), factor;

		d = 1 / away_from_zero(1 + even * d);
		c = away_from_zero(1 + even / c);
		value *= d * c;
		d = 1 / away_from_zero(1 + odd * d);
		c = away_from_zero(1 + odd / c);
		factor = d * c;
		value *= factor;
		if (fabs(factor - 1) < 1e-14)
			break;
	}
	return value;
}

/* I_x(a, b), the regularized incomplete beta function. `y` is 1 - x, which the caller knows exactly. */
static double beta_share(double a, double b, double x, double y)
{
	bool turned = x > (a + 1) / (a + b + 2);
	double front, share;

	if (x <= 0 || y <= 0)
		return x <= 0 ? 0 : 1;
	front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log(y));
	share = turned ? front * beta_fraction(b, a, y) / b : front * beta_fraction(a, b, x) / a;
	return turned ? 1 - share : share;
}

double ctx_student_two_sided(double t, double df)
{
	double square = t * t;

	if (isinf(t))
		return 0;
	if (df > NORMAL_DF)
		return erfc(fabs(t) / sqrt(2));
	return beta_share(df / 2, 0.5, df / (df + square), square / (df + square));
}

double ctx_student_quantile(double p, double df)
{
	double tail = p < 0.5 ? 2 * p : 2 * (1 - p), low = 0, high = 1;

	while (ctx_student_two_sided(high, df) > tail && high < DBL_MAX / 4)
		high *= 2;
	for (int i = 0; i < 200 && high - low > 1e-13 * high; i++) {
		double middle = low + (high - low) / 2;

		if (ctx_student_two_sided(middle, df) > tail)
			low = middle;
		else
			high = middle;
	}
	return p < 0.5 ? -high : high;
}
