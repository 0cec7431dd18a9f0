/*
 * Pairs of recordings: how often a difference is found where nothing changed, and where something did, of programs
 * of several shapes; all numbers are generated.
 */
#include "compare/pairs.h"

#include "base/mem.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define SAMPLES 4000u
#define SAMPLES_MAX (2 * SAMPLES)
#define BINS 500u
#define TIMES 400u
#define NOISE 0.02 /* assumed from run to run */

static uint64_t state;

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

/* A recording: for each sample whether it is in the function. */
struct run {
	bool in[SAMPLES_MAX];
	size_t n;
};

/* A program; `factor`: how much longer its function takes, which has a quarter of the time at 1. */
struct shape {
	const char *name;
	void (*make)(struct run *run, double factor, double length);
	double length;
};

/* Sample by sample, by chance. */
static void mixed(struct run *run, double factor, double length)
{
	(void)length;
	run->n = SAMPLES;
	for (size_t i = 0; i < run->n; i++)
		run->in[i] = uniform() < 0.25 * factor;
}

/* In visits of random length, some `length` samples, at random times: a load that comes as it likes. */
static void bursts(struct run *run, double factor, double length)
{
	bool in = uniform() < 0.25;

	run->n = 0;
	while (run->n < SAMPLES) {
		double left = -log(1 - uniform()) * (in ? length * factor : 3 * length) + uniform();

		for (; left >= 1 && run->n < SAMPLES; left--)
			run->in[run->n++] = in;
		in = !in;
	}
}

/* In `length` rounds, each of three phases of which the last is the function's; the clock differs by 0.8 %. */
static void rounds(struct run *run, double factor, double length)
{
	static const double PHASES[] = {0.25, 0.5, 0.25};
	double speed = 1 + 0.008 * normal(), at = uniform();

	run->n = 0;
	for (int r = 0; r < (int)length; r++) {
		for (int phase = 0; phase < 3; phase++) {
			at += SAMPLES / length * PHASES[phase] * speed * (1 + 0.01 * normal()) *
			      (phase == 2 ? factor : 1);
			while ((double)run->n < at && run->n < SAMPLES_MAX)
				run->in[run->n++] = phase == 2;
		}
	}
}

static double bins_of(const struct run *run, double bins[BINS])
{
	double sum = 0;

	memset(bins, 0, BINS * sizeof(*bins));
	for (size_t i = 0; i < run->n; i++) {
		bins[i * BINS / run->n] += run->in[i];
		sum += run->in[i];
	}
	return sum;
}

/* Of 1,000 comparisons, those with p below `p`. */
static unsigned found(const struct shape *shape, double factor, double noise, double p)
{
	static struct run runs[2];
	unsigned n = 0;

	state = 1;
	for (unsigned i = 0; i < TIMES; i++) {
		double a[BINS], b[BINS], sum_a, sum_b;
		struct ctx_evidence_error error;

		shape->make(&runs[0], 1, shape->length);
		shape->make(&runs[1], factor, shape->length);
		sum_a = bins_of(&runs[0], a);
		sum_b = bins_of(&runs[1], b);
		error = ctx_pair_measure(a, b, BINS);
		error.variance += 2;
		ctx_evidence_error_add_known(&error, noise * noise * (sum_a * sum_a + sum_b * sum_b));
		n += ctx_evidence_of(sum_b - sum_a, error.variance, error.df).p < p;
	}
	return n * 1000 / TIMES;
}

/* Six per cent and not five: of 400 comparisons with an error of 5 % that many are found in one of five such tests. */
static void test_pairs__of_equal_programs_differ_in_one_of_twenty_at_most(void **unused)
{
	static const struct shape shapes[] = {{"mixed", mixed, 0},
					      {"bursts", bursts, 5},
					      {"longer bursts", bursts, 40},
					      {"ten long bursts", bursts, 100},
					      {"few long bursts", bursts, 400}};

	(void)unused;
	for (size_t i = 0; i < CTX_COUNT_OF(shapes); i++) {
		unsigned n = found(&shapes[i], 1, 0, 0.05);

		if (n > 60)
			fail_msg("%s: %u of 1,000", shapes[i].name, n);
	}
}

/* What clock rates make of a program with phases is within the noise that is assumed. */
static void test_pairs__of_phases_find_a_tenth_and_nothing_else(void **unused)
{
	(void)unused;
	for (double n = 4; n < 500; n *= 3) {
		const struct shape shape = {"rounds", rounds, n};

		assert_in_range(found(&shape, 1, NOISE, 0.05), 0, 10);
		/* The smallest of four rows, as Benjamini and Hochberg want it. */
		assert_in_range(found(&shape, 1.1, NOISE, 0.0125), 850, 1000);
	}
}

/* 100 of 1,000 samples more, with 27 that each side differs by chance and 2 %: 2.2 standard errors. */
static void test_pairs__of_mixed_samples_find_what_their_number_allows(void **unused)
{
	const struct shape shape = {"mixed", mixed, 0};

	(void)unused;
	assert_in_range(found(&shape, 1.1, 0, 0.05), 550, 750);
	assert_in_range(found(&shape, 1.3, NOISE, 0.0125), 950, 1000);
}

/* A function that bursts at times on one side alone: four bursts are chance, some in each block are not. */
static void test_pairs__on_one_side_alone_count_by_how_often_they_are_there(void **unused)
{
	static double a[BINS], b[BINS];
	struct ctx_evidence_error error;

	(void)unused;
	for (size_t i = 50; i < BINS; i += 125)
		b[i] = b[i + 1] = 10;
	error = ctx_pair_measure(a, b, BINS);
	assert_true(ctx_evidence_of(80, error.variance, error.df).p > 0.05);
	for (size_t i = 0; i < BINS; i += 10)
		b[i] = 10;
	error = ctx_pair_measure(a, b, BINS);
	assert_true(ctx_evidence_of(580, error.variance, error.df).p < 0.01);
	/* Few elsewhere on the other side do not change that. */
	a[77] = a[222] = 1;
	error = ctx_pair_measure(a, b, BINS);
	assert_true(ctx_evidence_of(578, error.variance, error.df).p < 0.01);
}

static void test_pairs__say_nothing_of_too_little(void **unused)
{
	static double a[CTX_PAIR_BINS_MAX + 1], b[CTX_PAIR_BINS_MAX + 1];

	(void)unused;
	assert_true(ctx_pair_measure(a, b, BINS).df == 0);
	a[3] = b[3] = 7;
	assert_true(ctx_pair_measure(a, b, BINS).df == 0);
	for (size_t i = 0; i < CTX_PAIR_BINS_MAX; i++)
		a[i] = b[i] = 1;
	assert_true(ctx_pair_measure(a, b, CTX_PAIR_BINS_MIN - 1).df == 0);
	assert_true(ctx_pair_measure(a, b, CTX_PAIR_BINS_MIN).df > 0);
	assert_true(ctx_pair_measure(a, b, CTX_PAIR_BINS_MAX + 1).df == 0);
	/* The same on both sides: no error, but the df of all blocks. */
	assert_true(ctx_pair_measure(a, b, CTX_PAIR_BINS_MAX).variance == 0);
	assert_true(fabs(ctx_pair_measure(a, b, CTX_PAIR_BINS_MAX).df - 15) < 1e-9);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs__of_equal_programs_differ_in_one_of_twenty_at_most),
		cmocka_unit_test(test_pairs__of_phases_find_a_tenth_and_nothing_else),
		cmocka_unit_test(test_pairs__of_mixed_samples_find_what_their_number_allows),
		cmocka_unit_test(test_pairs__on_one_side_alone_count_by_how_often_they_are_there),
		cmocka_unit_test(test_pairs__say_nothing_of_too_little),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
