/*
 * Evidence for a difference: against tables, against drawn bootstraps, and on series where nothing changed.
 */
#include "compare/evidence.h"
#include "compare/moderation.h"
#include "compare/runs.h"
#include "compare/student.h"

#include "base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>

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

static double normal(void)
{
	return sqrt(-2 * log(1 - uniform())) * cos(2 * acos(-1) * uniform());
}

/* Mean 10, standard deviation 1, correlation `rho` from one bin to the next. */
static void fill(double *bins, size_t n, double rho)
{
	double x = normal();

	for (size_t i = 0; i < n; i++) {
		bins[i] = 10 + x;
		x = rho * x + sqrt(1 - rho * rho) * normal();
	}
}

static size_t block_length(const struct ctx_evidence_lane *lanes, size_t n_lanes)
{
	return ctx_evidence_measure(lanes, n_lanes, 0).length;
}

/* Welch's test: the variances of the sides may differ. */
static struct ctx_evidence compare(const struct ctx_evidence_side *a, const struct ctx_evidence_side *b)
{
	struct ctx_evidence_error error = {a->variance, a->df}, other = {b->variance, b->df};

	ctx_evidence_error_add(&error, &other);
	return ctx_evidence_of(b->sum - a->sum, error.variance, error.df);
}

static void test_student__is_what_tables_say(void **unused)
{
	static const struct {
		double df, p, t;
	} table[] = {
		{1, 0.975, 12.706204736432095}, {2, 0.975, 4.302652729911275},	 {5, 0.95, 2.015048372669157},
		{10, 0.995, 3.169272672616838}, {30, 0.975, 2.0422724563012373}, {2.5, 0.9, 1.730250965586},
		{120, 0.999, 3.159539},		{1e9, 0.975, 1.959963984540054},
	};

	(void)unused;
	for (size_t i = 0; i < CTX_COUNT_OF(table); i++) {
		double t = ctx_student_quantile(table[i].p, table[i].df);

		if (table[i].df != 2.5)
			assert_true(fabs(t - table[i].t) < 1e-6 * table[i].t);
		assert_true(fabs(ctx_student_two_sided(t, table[i].df) - 2 * (1 - table[i].p)) < 1e-10);
		assert_true(fabs(ctx_student_quantile(1 - table[i].p, table[i].df) + t) < 1e-9 * t);
	}
	/* With one degree of freedom it is Cauchy's distribution, with two it has a closed form. */
	for (double t = 0.01; t < 1e6; t *= 3) {
		assert_true(fabs(ctx_student_two_sided(t, 1) - (1 - 2 * atan(t) / acos(-1))) < 1e-9);
		assert_true(fabs(ctx_student_two_sided(t, 2) - (1 - t / sqrt(t * t + 2))) < 1e-9);
	}
	assert_true(ctx_student_two_sided(0, 3) == 1);
	assert_true(ctx_student_two_sided(INFINITY, 3) == 0);
}

/* Draws blocks at random and sums them, as the bootstrap is defined. */
static double drawn_variance(const double *bins, size_t n, size_t length, size_t draws)
{
	double mean = 0, squares = 0;

	for (size_t d = 0; d < draws; d++) {
		double sum = 0;

		for (size_t b = 0; b < n / length; b++) {
			size_t at = (size_t)(uniform() * (double)n);

			for (size_t i = 0; i < length; i++)
				sum += bins[(at + i) % n];
		}
		mean += sum / (double)draws;
		squares += sum * sum / (double)draws;
	}
	return squares - mean * mean;
}

static void test_evidence__variance_is_that_of_drawn_blocks(void **unused)
{
	double bins[600];
	struct ctx_evidence_lane lane = {bins, CTX_COUNT_OF(bins)};

	(void)unused;
	for (int i = 0; i < 3; i++) {
		struct ctx_evidence_side side;
		double drawn, n = (double)lane.n;

		fill(bins, lane.n, 0.3 * i);
		side = ctx_evidence_measure(&lane, 1, 0);
		drawn = drawn_variance(bins, lane.n, side.length, 20000);
		drawn *= n / (double)(lane.n / side.length * side.length); /* whole blocks only */
		drawn *= n / (n - (double)side.length);
		assert_true(fabs(side.variance / drawn - 1) < 0.05);
	}
}

static void test_evidence__block_length_grows_with_correlation(void **unused)
{
	double bins[4000];
	struct ctx_evidence_lane lane = {bins, CTX_COUNT_OF(bins)},
				 halves[2] = {{bins, 2000}, {bins + 2000, 2000}};
	size_t none, some, much, longest = 0;

	(void)unused;
	fill(bins, lane.n, 0);
	none = block_length(&lane, 1);
	fill(bins, lane.n, 0.5);
	some = block_length(&lane, 1);
	fill(bins, lane.n, 0.95);
	much = block_length(&lane, 1);
	assert_in_range(none, 1, 4);
	/* (2 g^2 / D)^(1/3) n^(1/3) of such a process is 22 and 134: rho 0.5 and 0.95. */
	assert_in_range(some, 12, 40);
	assert_in_range(much, 60, 190);
	assert_in_range(block_length(halves, 2), much / 2, much * 2);
	/* However much few bins resemble each other, eight blocks are left. */
	for (size_t n = 0; n < 200; n++) {
		size_t length = block_length(&(struct ctx_evidence_lane){bins, n}, 1);

		assert_in_range(length, 1, n < 16 ? 1 : n / 8);
		longest = length > longest ? length : longest;
	}
	assert_true(longest > 12);
	for (size_t i = 0; i < lane.n; i++)
		bins[i] = 3;
	assert_int_equal(block_length(&lane, 1), 1);
}

/* 2,000 comparisons of two series in which nothing, or `change` of the mean, changed. */
static unsigned found(double rho, double change, size_t n)
{
	double a[1000], b[1000];
	unsigned rejected = 0;

	for (int i = 0; i < 2000; i++) {
		struct ctx_evidence_lane lanes[2] = {{a, n}, {b, n}};
		struct ctx_evidence_side sides[2];
		struct ctx_evidence evidence;

		fill(a, n, rho);
		fill(b, n, rho);
		for (size_t t = 0; t < n; t++)
			b[t] += change;
		sides[0] = ctx_evidence_measure(&lanes[0], 1, 0);
		sides[1] = ctx_evidence_measure(&lanes[1], 1, 0);
		evidence = compare(&sides[0], &sides[1]);
		assert_true((evidence.p < 0.05) == (evidence.low > 0 || evidence.high < 0));
		rejected += evidence.p < 0.05;
	}
	return rejected;
}

static void test_evidence__one_in_twenty_of_equal_sides_differs(void **unused)
{
	(void)unused;
	assert_in_range(found(0, 0, 300), 70, 130);
	assert_in_range(found(0.5, 0, 300), 70, 180);
	assert_in_range(found(0.9, 0, 1000), 70, 240);
}

static void test_evidence__a_detectable_change_is_found_in_four_of_five(void **unused)
{
	/* (1.96 + 0.84) * sqrt(2 / 300): what detectable says for independent bins. */
	unsigned n = found(0, 2.8 * sqrt(2.0 / 300), 300);
	struct ctx_evidence_side side = {.sum = 1, .variance = 300, .df = 299, .blocks = 300};
	struct ctx_evidence evidence = compare(&side, &side);

	(void)unused;
	assert_in_range(n, 1540, 1660);
	assert_true(fabs(evidence.detectable / (2.8 * sqrt(600)) - 1) < 0.01);
}

static void test_evidence__errors_add_up(void **unused)
{
	struct ctx_evidence_error error = {3, 10}, more = {1, 5};

	(void)unused;
	ctx_evidence_error_add(&error, &more);
	assert_true(error.variance == 4 && fabs(error.df - 16 / (9.0 / 10 + 1.0 / 5)) < 1e-12);
	ctx_evidence_error_add_known(&error, 4);
	assert_true(error.variance == 8 && fabs(error.df - 4 * 16 / (9.0 / 10 + 1.0 / 5)) < 1e-12);
	error = (struct ctx_evidence_error){9, 10};
	ctx_evidence_error_add_bound(&error, &more);
	assert_true(error.variance == 16 && fabs(error.df - 16 / (9.0 / 10 + 1.0 / 5)) < 1e-12);
	more.df = 0;
	ctx_evidence_error_add_bound(&error, &more);
	assert_true(error.df == 0);
}

static void test_evidence__too_few_blocks_are_no_evidence(void **unused)
{
	double few[] = {1, 2, 3, 1, 2}, more[] = {1, 2, 3, 1, 2, 3, 1, 2};
	struct ctx_evidence_lane lane = {few, CTX_COUNT_OF(few)};
	struct ctx_evidence_side small = ctx_evidence_measure(&lane, 1, 1);
	struct ctx_evidence_side large = {.sum = 1e9, .variance = 1, .df = 100};
	struct ctx_evidence evidence = compare(&small, &large);

	(void)unused;
	assert_true(small.df == 0 && small.sum == 9);
	assert_true(evidence.p == 1 && isinf(evidence.low) && isinf(evidence.high) &&
		    isinf(evidence.detectable));
	lane = (struct ctx_evidence_lane){more, CTX_COUNT_OF(more)};
	assert_true(ctx_evidence_measure(&lane, 1, 1).df > 0);
	assert_true(ctx_evidence_measure(NULL, 0, 1).df == 0);
}

/* Four samples on one side and none on the other happen by chance in one of eight such cases. */
static void test_evidence__few_observations_are_not_certain(void **unused)
{
	double a[1000] = {0}, b[1000] = {0};
	struct ctx_evidence_lane lanes[2] = {{a, 1000}, {b, 1000}};
	struct ctx_evidence_side sides[2];

	(void)unused;
	b[100] = b[300] = b[550] = b[900] = 1e6;
	for (int i = 0; i < 2; i++)
		sides[i] = ctx_evidence_measure(&lanes[i], 1, 1e6);
	assert_true(compare(&sides[0], &sides[1]).p > 0.05);
	for (size_t i = 0; i < 1000; i += 100)
		b[i + 50] = 1e6;
	sides[1] = ctx_evidence_measure(&lanes[1], 1, 1e6);
	assert_true(compare(&sides[0], &sides[1]).p < 0.05);
}

static void test_evidence__keeps_what_benjamini_and_hochberg_keep(void **unused)
{
	/* The example of their paper: four of these fifteen at 5 %. */
	static const double p[] = {0.3240, 0.0001, 0.0278, 0.6528, 0.0004, 0.0298, 0.0344, 0.0019,
				   0.0459, 0.0095, 0.4262, 0.5719, 0.7590, 1.000,  0.0201};
	bool keep[CTX_COUNT_OF(p)];
	unsigned n = 0;

	(void)unused;
	assert_int_equal(ctx_evidence_keep(p, CTX_COUNT_OF(p), 0.05, keep, NULL), CTX_OK);
	for (size_t i = 0; i < CTX_COUNT_OF(p); i++) {
		assert_int_equal(keep[i], p[i] <= 0.0095);
		n += keep[i];
	}
	assert_int_equal(n, 4);
	assert_int_equal(ctx_evidence_keep(p, 1, 0.05, keep, NULL), CTX_OK);
	assert_false(keep[0]);
	assert_int_equal(ctx_evidence_keep(p, 0, 0.05, keep, NULL), CTX_OK);
}

static void test_moderation__gamma_functions_are_what_tables_say(void **unused)
{
	const double pi = acos(-1);

	(void)unused;
	assert_true(fabs(ctx_digamma(1) + 0.57721566490153286) < 1e-12);
	assert_true(fabs(ctx_digamma(0.5) + 1.9635100260214235) < 1e-12);
	assert_true(fabs(ctx_digamma(100) - 4.6001618527380874) < 1e-12);
	assert_true(fabs(ctx_trigamma(1) - pi * pi / 6) < 1e-12);
	assert_true(fabs(ctx_trigamma(0.5) - pi * pi / 2) < 1e-12);
	assert_true(fabs(ctx_trigamma(2) - (pi * pi / 6 - 1)) < 1e-12);
}

/* The mean of so many squares. */
static double chi_square(int df)
{
	double sum = 0;

	for (int i = 0; i < df; i++) {
		double x = normal();

		sum += x * x;
	}
	return sum / df;
}

static void test_moderation__finds_the_distribution_of_variances(void **unused)
{
	double ratios[4000];
	struct ctx_moderation wide, same, few;
	double df;

	(void)unused;
	for (size_t i = 0; i < CTX_COUNT_OF(ratios); i++)
		ratios[i] = 3 * chi_square(4) / chi_square(6);
	wide = ctx_moderation_fit(ratios, CTX_COUNT_OF(ratios), 4);
	assert_true(fabs(wide.df - 6) < 1 && fabs(wide.scale - 3) < 0.3);
	for (size_t i = 0; i < CTX_COUNT_OF(ratios); i++)
		ratios[i] = 3 * chi_square(4);
	same = ctx_moderation_fit(ratios, CTX_COUNT_OF(ratios), 4);
	assert_true(same.df > 60 && fabs(same.scale - 3) < 0.3);
	/* Four rows that happen to be the same. */
	ratios[0] = ratios[1] = ratios[2] = ratios[3];
	assert_true(fabs(ctx_moderation_fit(ratios, 4, 4).df - 12) < 1e-9);
	ratios[0] = ratios[1] = 0;
	few = ctx_moderation_fit(ratios, 4, 4);
	assert_true(few.df == 0);
	assert_true(ctx_moderation_variance(&few, 7, 100, 4, &df) == 7 && df == 4);
	assert_true(fabs(ctx_moderation_variance(&wide, 7, 2, 6, &df) -
			 (6 * 7 + wide.df * wide.scale * 2) / df) < 1e-9);
	assert_true(df == 6 + wide.df);
}

/* Rows of three runs on each side, of which the last is `change` of its spread slower: how often each is found. */
static void judge(double change, unsigned *ret_others, unsigned *ret_last)
{
	enum { ROWS = 20, RUNS = 3, TIMES = 500 };

	*ret_others = *ret_last = 0;
	for (int time = 0; time < TIMES; time++) {
		struct ctx_runs_row rows[ROWS] = {0};
		const struct ctx_runs runs = {.rows = rows, .n = ROWS, .n_runs = {RUNS, RUNS}};
		struct ctx_evidence evidence[ROWS];

		for (int i = 0; i < ROWS; i++) {
			double sums[2][RUNS], size = 100 * (i + 1), within = size / 20, between = size / 50;

			rows[i].within = within * within;
			for (int side = 0; side < 2; side++) {
				for (int r = 0; r < RUNS; r++) {
					sums[side][r] = size + within * normal() + between * normal();
					sums[side][r] += side == 1 && i == ROWS - 1 ? change * within : 0;
					rows[i].mean[side] += sums[side][r] / RUNS;
				}
			}
			for (int side = 0; side < 2; side++) {
				for (int r = 0; r < RUNS; r++)
					rows[i].variance += (sums[side][r] - rows[i].mean[side]) *
							    (sums[side][r] - rows[i].mean[side]) /
							    (2 * RUNS - 2);
			}
		}
		assert_int_equal(ctx_runs_judge(&runs, evidence, NULL), CTX_OK);
		for (int i = 0; i < ROWS; i++)
			*(i == ROWS - 1 ? ret_last : ret_others) += evidence[i].p < 0.05;
	}
}

static void test_runs__three_of_each_side_find_what_rows_share(void **unused)
{
	unsigned others, last;

	(void)unused;
	judge(0, &others, &last);
	assert_in_range(others, 9500 / 33, 9500 / 15); /* 1 of 20 */
	/* 2.8 standard errors (4 of 5 with many degrees of freedom): by its own variance alone a row is found in 60 %. */
	judge(2.8 * sqrt(2.0 / 3) * sqrt(1 + 0.16), &others, &last);
	assert_in_range(last, 360, 440);
	assert_in_range(others, 9500 / 33, 9500 / 15);
}

static void test_runs__rows_apart_count_by_themselves(void **unused)
{
	struct ctx_runs_row rows[10] = {0};
	struct ctx_evidence evidence[10];
	const struct ctx_runs runs = {.rows = rows, .n = 10, .n_runs = {3, 1}};

	(void)unused;
	for (int i = 0; i < 10; i++)
		rows[i] = (struct ctx_runs_row){.mean = {100, 104}, .variance = 1, .within = 1};
	rows[9] = (struct ctx_runs_row){.mean = {100, 200}, .variance = 10000, .within = 1, .apart = true};
	assert_int_equal(ctx_runs_judge(&runs, evidence, NULL), CTX_OK);
	assert_true(evidence[0].p < 0.05 && evidence[0].change == 4);
	assert_true(evidence[9].p > 0.3);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_student__is_what_tables_say),
		cmocka_unit_test(test_evidence__variance_is_that_of_drawn_blocks),
		cmocka_unit_test(test_evidence__block_length_grows_with_correlation),
		cmocka_unit_test(test_evidence__one_in_twenty_of_equal_sides_differs),
		cmocka_unit_test(test_evidence__a_detectable_change_is_found_in_four_of_five),
		cmocka_unit_test(test_evidence__errors_add_up),
		cmocka_unit_test(test_evidence__too_few_blocks_are_no_evidence),
		cmocka_unit_test(test_evidence__few_observations_are_not_certain),
		cmocka_unit_test(test_moderation__gamma_functions_are_what_tables_say),
		cmocka_unit_test(test_moderation__finds_the_distribution_of_variances),
		cmocka_unit_test(test_runs__three_of_each_side_find_what_rows_share),
		cmocka_unit_test(test_runs__rows_apart_count_by_themselves),
		cmocka_unit_test(test_evidence__keeps_what_benjamini_and_hochberg_keep),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
