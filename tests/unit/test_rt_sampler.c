/*
 * Sampling of allocations by bytes, with fixed seeds: what is estimated from the sampled ones against the
 * exact sums, and the estimated standard error against the real error.
 */
#include "chance.h"
#include "model/heap_sampling.h"
#include "runtime/rt_sampler.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define INTERVAL 4096u

struct sums {
	double number, bytes;
	double number_variance, bytes_variance;
};

/* Mostly small ones, some as large as the distance of samples, a few far larger. */
static uint64_t size_of_next(void)
{
	uint64_t kind = below(100);

	return kind < 80 ? 8 + below(200) : kind < 98 ? 1 + below(2 * INTERVAL) : below(50 * INTERVAL);
}

static void add(struct sums *exact, struct sums *estimated, struct ctx_rt_sampler *sampler, uint64_t size)
{
	struct ctx_traced operation = {.kind = CTX_TRACED_HEAP, .operation = CTX_HEAP_ALLOCATE, .size = size};
	double number = ctx_heap_sample_number(INTERVAL, &operation);

	exact->number++;
	exact->bytes += (double)size;
	if (!ctx_rt_sampler_take(sampler, INTERVAL, size))
		return;
	estimated->number += number;
	estimated->bytes += (double)ctx_heap_sample_scale(size, number);
	estimated->number_variance += ctx_heap_sample_variance(1, number);
	estimated->bytes_variance += ctx_heap_sample_variance((double)size, number);
}

static void test_rt_sampler__sums_are_unbiased_and_their_errors_as_large_as_is_said(void **state)
{
	enum { RUNS = 200, ALLOCATIONS = 10000 };
	double number_squares = 0, bytes_squares = 0, number_sum = 0, bytes_sum = 0;

	(void)state;
	for (uint64_t run = 0; run < RUNS; run++) {
		struct ctx_rt_sampler sampler = {0};
		struct sums exact = {0}, estimated = {0};
		double number, bytes; /* errors, in standard errors */

		ctx_rt_sampler_begin(&sampler, INTERVAL, run);
		for (unsigned i = 0; i < ALLOCATIONS; i++)
			add(&exact, &estimated, &sampler, size_of_next());
		number = (estimated.number - exact.number) / sqrt(estimated.number_variance);
		bytes = (estimated.bytes - exact.bytes) / sqrt(estimated.bytes_variance);
		assert_true(fabs(number) < 5 && fabs(bytes) < 5);
		number_sum += number;
		bytes_sum += bytes;
		number_squares += number * number;
		bytes_squares += bytes * bytes;
	}
	/* Of 200 independent errors of size 1: the mean is 0 +- 0.07, the mean square 1 +- 0.1. */
	assert_true(fabs(number_sum / RUNS) < 0.25 && fabs(bytes_sum / RUNS) < 0.25);
	assert_true(fabs(number_squares / RUNS - 1) < 0.35 && fabs(bytes_squares / RUNS - 1) < 0.35);
}

static void test_rt_sampler__the_chance_of_each_size_is_as_it_should_be(void **state)
{
	static const uint64_t sizes[] = {0,	      1, 16, 100, 1000, INTERVAL / 2, INTERVAL, 3 * INTERVAL,
					 8 * INTERVAL};
	enum { TIMES = 100000, N = sizeof(sizes) / sizeof(sizes[0]) };
	struct ctx_rt_sampler sampler = {0};
	unsigned sampled[N] = {0};

	(void)state;
	ctx_rt_sampler_begin(&sampler, INTERVAL, 7);
	for (unsigned i = 0; i < TIMES * N; i++)
		sampled[i % N] += ctx_rt_sampler_take(&sampler, INTERVAL, sizes[i % N]);
	for (unsigned i = 0; i < N; i++) {
		struct ctx_traced operation = {
			.kind = CTX_TRACED_HEAP, .operation = CTX_HEAP_REALLOCATE, .size = sizes[i]};
		double chance = 1 / ctx_heap_sample_number(INTERVAL, &operation);
		double error = sqrt(TIMES * chance * (1 - chance)) + 1;

		assert_true(fabs(sampled[i] - TIMES * chance) < 4 * error);
	}
}

static void test_rt_sampler__a_thread_that_has_not_begun_begins(void **state)
{
	struct ctx_rt_sampler sampler = {0};
	unsigned n = 0;

	(void)state;
	for (unsigned i = 0; i < 100; i++)
		n += ctx_rt_sampler_take(&sampler, 1, 1000);
	assert_int_equal(n, 100); /* the chance of another number is e^-1000 */
	assert_true(sampler.has_begun);
}

static void test_rt_sampler__mappings_and_exact_recordings_stand_for_themselves(void **state)
{
	struct ctx_traced map = {.kind = CTX_TRACED_HEAP, .operation = CTX_HEAP_MAP, .size = 4096};
	struct ctx_traced block = {.kind = CTX_TRACED_HEAP, .operation = CTX_HEAP_ALLOCATE, .size = 10};
	const struct ctx_property properties[] = {{"host", "x"}, {CTX_HEAP_SAMPLE_PROPERTY, "524288"}};

	(void)state;
	assert_true(ctx_heap_sample_number(524288, &map) == 1 && ctx_heap_sample_number(0, &block) == 1);
	assert_int_equal(ctx_heap_sample_scale(123, 1), 123);
	assert_int_equal(ctx_heap_sample_scale(UINT64_C(1) << 50, 1e9), CTX_TRACED_WEIGHT_MAX);
	assert_int_equal(ctx_heap_sample_bytes(properties, 2), 524288);
	assert_int_equal(ctx_heap_sample_bytes(properties, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rt_sampler__sums_are_unbiased_and_their_errors_as_large_as_is_said),
		cmocka_unit_test(test_rt_sampler__the_chance_of_each_size_is_as_it_should_be),
		cmocka_unit_test(test_rt_sampler__a_thread_that_has_not_begun_begins),
		cmocka_unit_test(test_rt_sampler__mappings_and_exact_recordings_stand_for_themselves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
