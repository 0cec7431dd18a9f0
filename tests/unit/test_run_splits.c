/*
 * Splits of recordings: p by hand where it can be counted, and how often rows without a change stand out.
 */
#include "compare/run_splits.h"
#include "compare/runs.h"

#include "base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static uint64_t state = 1;

/* The same numbers in every run: xorshift64*. */
static double uniform(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return (double)((state * 0x2545f4914f6cdd1du) >> 11) / 9007199254740992.0;
}

/* Of one row with the scale 1. */
static double p_of(const double *sums, size_t n_a, size_t n_b, size_t *ret_n)
{
	const double scale = 1;
	const struct ctx_run_splits_spec spec = {sums, 1, 1, {n_a, n_b}, &scale};
	double p;

	assert_int_equal(ctx_run_splits_judge(&spec, &p, ret_n, NULL), CTX_OK);
	return p;
}

static void test_run_splits__p_is_what_counting_says(void **unused)
{
	static const double apart[] = {1, 2, 3, 7, 8, 9}, mixed[] = {1, 2, 8, 3, 7, 9},
			    equal[] = {5, 5, 5, 5, 5}, one[] = {9, 1, 2, 3}, middle[] = {2, 1, 3, 9};
	size_t n;

	(void)unused;
	/* {1,2,3} | {7,8,9} is the farthest of ten. */
	assert_true(p_of(apart, 3, 3, &n) == 0.1 && n == 10);
	/* Sums of 11 and 19; of 6 ({1,2,3}), 10 ({1,2,7}) and 11 ({1,3,7}) differ as much. */
	assert_true(fabs(p_of(mixed, 3, 3, &n) - 0.4) < 1e-12 && n == 10);
	assert_true(p_of(equal, 2, 3, &n) == 1 && n == 10);
	assert_true(p_of(one, 1, 3, &n) == 0.25 && n == 4);
	assert_true(p_of(middle, 1, 3, &n) == 0.75 && n == 4);
	assert_true(p_of(equal, 1, 1, &n) == 1 && n == 1);
}

/* The second row stands out less than the first, and is compared with what is left. */
static void test_run_splits__a_row_is_compared_with_those_behind_it(void **unused)
{
	static const double sums[8][3] = {{0, 10, 4},  {1, 11, 5},  {0, 10, 5},	 {1, 11, 4},
					  {50, 14, 5}, {51, 15, 4}, {50, 14, 4}, {51, 15, 5}};
	static const double scales[] = {1, 1, 1};
	const struct ctx_run_splits_spec spec = {sums[0], 3, 3, {4, 4}, scales};
	double p[3];
	size_t n;

	(void)unused;
	assert_int_equal(ctx_run_splits_judge(&spec, p, &n, NULL), CTX_OK);
	assert_int_equal(n, 35);
	assert_true(p[0] == 1.0 / 35 && p[1] == 1.0 / 35 && p[2] == 1);
}

/* Sums of heavy tails, and a load that all rows share: in at most 5 % of such comparisons any row stands out. */
static void test_run_splits__of_rows_without_a_change_few_stand_out(void **unused)
{
	enum { ROWS = 20, RUNS = 10, TIMES = 1000 };
	double sums[RUNS][ROWS], scales[ROWS], p[ROWS], least;
	const struct ctx_run_splits_spec spec = {sums[0], ROWS, ROWS, {5, 5}, scales};
	unsigned found = 0;
	size_t n = 0;

	(void)unused;
	for (size_t row = 0; row < ROWS; row++)
		scales[row] = 1;
	for (unsigned time = 0; time < TIMES; time++) {
		for (size_t run = 0; run < RUNS; run++) {
			double load = uniform() < 0.3 ? 5 : 0;

			for (size_t row = 0; row < ROWS; row++)
				sums[run][row] = load + tan(3.1 * (uniform() - 0.5));
		}
		assert_int_equal(ctx_run_splits_judge(&spec, p, &n, NULL), CTX_OK);
		least = 1;
		for (size_t row = 0; row < ROWS; row++)
			least = fmin(least, p[row]);
		found += least <= ctx_runs_level(n);
	}
	assert_int_equal(n, 126);
	assert_in_range(found, 25, 65);
}

static void test_run_splits__of_many_recordings_some_splits_are_drawn(void **unused)
{
	enum { RUNS = 40 };
	double same[RUNS], more[RUNS];
	size_t n;

	(void)unused;
	for (size_t run = 0; run < RUNS; run++) {
		same[run] = uniform();
		more[run] = same[run] + (run < RUNS / 2 ? 0 : 2);
	}
	assert_true(p_of(more, RUNS / 2, RUNS / 2, &n) == 1.0 / CTX_RUN_SPLITS_MAX);
	assert_int_equal(n, CTX_RUN_SPLITS_MAX);
	assert_true(p_of(same, RUNS / 2, RUNS / 2, &n) > 0.05);
	assert_true(p_of(same, RUNS / 2, RUNS / 2, &n) == p_of(same, RUNS / 2, RUNS / 2, &n));
}

static void test_run_splits__levels(void **unused)
{
	(void)unused;
	assert_true(ctx_runs_level(10) == 0.1 && ctx_runs_level(35) == 0.05 && ctx_runs_level(1) == 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_splits__p_is_what_counting_says),
		cmocka_unit_test(test_run_splits__a_row_is_compared_with_those_behind_it),
		cmocka_unit_test(test_run_splits__of_rows_without_a_change_few_stand_out),
		cmocka_unit_test(test_run_splits__of_many_recordings_some_splits_are_drawn),
		cmocka_unit_test(test_run_splits__levels),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
