#include "runtime/rt_sampler.h"

#include "base/clock.h"

/* splitmix64 */
static uint64_t next_random(struct ctx_rt_sampler *sampler)
{
	uint64_t value = sampler->random += UINT64_C(0x9e3779b97f4a7c15);

	value = (value ^ value >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	value = (value ^ value >> 27) * UINT64_C(0x94d049bb133111eb);
	return value ^ value >> 31;
}

#define LN2 0.693147180559945309417
#define SQRT2 1.41421356237309504880

/* -ln(n / 2^53), for 1 <= n <= 2^53; to 1e-12. */
static double minus_log(uint64_t n)
{
	int exponent = 63 - __builtin_clzll(n);
	double mantissa = (double)n / (double)(UINT64_C(1) << exponent); /* from 1 to 2 */
	double t, square, sum = 0;

	if (mantissa > SQRT2) {
		mantissa /= 2;
		exponent++;
	}
	t = (mantissa - 1) / (mantissa + 1);
	square = t * t;
	for (int i = 15; i >= 1; i -= 2)
		sum = sum * square + 1.0 / i;
	return LN2 * (53 - exponent) - 2 * t * sum;
}

/* The bytes up to the next point. */
static int64_t next_distance(struct ctx_rt_sampler *sampler, uint64_t interval)
{
	return (int64_t)(minus_log((next_random(sampler) >> 11) + 1) * (double)interval);
}

void ctx_rt_sampler_begin(struct ctx_rt_sampler *sampler, uint64_t interval, uint64_t seed)
{
	sampler->random = seed;
	sampler->has_begun = true;
	sampler->left = next_distance(sampler, interval);
}

bool ctx_rt_sampler_pass(struct ctx_rt_sampler *sampler, uint64_t interval, uint64_t size)
{
	if (!sampler->has_begun) {
		ctx_rt_sampler_begin(sampler, interval,
				     ctx_clock_ns(CLOCK_MONOTONIC) ^ (uint64_t)(uintptr_t)sampler << 20);
		sampler->left -= (int64_t)size;
		if (sampler->left >= 0)
			return false;
	}
	sampler->left = next_distance(sampler, interval);
	return true;
}
