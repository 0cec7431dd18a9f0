/* Phases by counts alone: against the best division of all, known borders, noise. */
#include "timetree/phase_noise.h"
#include "timetree/phase_segments.h"

#include "chance.h"
#include "failing_malloc.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CLASSES 4u

static double chance(void)
{
	return (double)below(1u << 30) / (1u << 30);
}

/* A class by its weights, which add up to one. */
static size_t draw(const double *weights, size_t n)
{
	double at = chance();
	size_t class = 0;

	while (class + 1 < n && (at -= weights[class]) > 0)
		class ++;
	return class;
}

struct found {
	double cells[1024 * 16];
	struct ctx_phase_counts counts;
	struct ctx_phase_segments segments;
};

static void begin(struct found *found, size_t n_bins, size_t n_classes)
{
	*found = (struct found){.counts = {found->cells, n_bins, n_classes}};
}

static void find(struct found *found)
{
	struct ctx_err err;

	assert_int_equal(ctx_phases_find(&found->counts, &found->segments, &err), CTX_OK);
}

/* ---- descriptions ---- */

/* One sample after the other: (seen of the class + A p) / (seen + A). */
static double slow_bits(const double *counts, const double *prior, size_t n)
{
	double best = 0;

	for (size_t c = 0; c < n; c++)
		best -= counts[c] > 0 ? counts[c] * log2(prior[c]) : 0;
	for (unsigned k = 0; k + 1 < CTX_PHASE_CODES; k++) {
		double strength = pow(4, k) / 4, bits = 0, all = 0;

		for (size_t c = 0; c < n; c++) {
			for (double seen = 0; seen < counts[c]; seen++)
				bits -= log2((seen + strength * prior[c]) / (all++ + strength));
		}
		best = bits < best ? bits : best;
	}
	return best + 3;
}

static void test_phase_segments__bits_are_those_of_coding_sample_by_sample(void **state)
{
	static const double cells[] = {5, 0, 1, 0, 3, 3, 3, 1, 40, 0, 2, 0, 0, 0, 0, 9};
	static const double prior[] = {48.0 / 67, 3.0 / 67, 6.0 / 67, 10.0 / 67};
	const struct ctx_phase_counts counts = {cells, 4, CLASSES};
	struct ctx_phase_code code;
	double some[CLASSES];

	(void)state;
	assert_int_equal(ctx_phase_code_init(&counts, 1, &code, NULL), CTX_OK);
	for (size_t begin_bin = 0; begin_bin < 4; begin_bin++) {
		for (size_t end = begin_bin; end <= 4; end++) {
			ctx_phase_code_counts(&code, begin_bin, end, some);
			assert_true(fabs(ctx_phase_code_bits(&code, some) - slow_bits(some, prior, CLASSES)) <
				    1e-6);
		}
	}
	ctx_phase_code_deinit(&code);
}

static void test_phase_segments__divergence_of_known_histograms(void **state)
{
	static const double left[] = {100000, 0}, right[] = {0, 100000}, mixed[] = {50000, 50000};
	static const double few[] = {1, 1}, other[] = {1, 0}, none[] = {0, 0};

	(void)state;
	assert_true(fabs(ctx_phase_divergence(left, right, 2, 1) - 1) < 1e-4);
	assert_true(fabs(ctx_phase_divergence(left, mixed, 2, 1) - 0.3112781) < 1e-4);
	assert_true(ctx_phase_divergence(mixed, mixed, 2, 1) == 0);
	/* That of so few samples is less than what chance makes of it. */
	assert_true(ctx_phase_divergence(few, other, 2, 1) < 0.05);
	assert_true(ctx_phase_divergence(left, none, 2, 1) == 0);
	/* Samples that resemble each other say less. */
	assert_true(ctx_phase_divergence(few, other, 2, 100) == 0);
}

/* ---- the best of all divisions ---- */

static double best_bits(const struct ctx_phase_code *code)
{
	double best[65] = {0};

	for (size_t end = 1; end <= code->n_bins; end++) {
		best[end] = INFINITY;
		for (size_t from = 0; from < end; from++) {
			double bits = best[from] + ctx_phase_code_segment(code, from, end);

			best[end] = bits < best[end] ? bits : best[end];
		}
	}
	return best[code->n_bins];
}

/* Random phases with random classes in 48 bins. */
static void make_random(struct found *found)
{
	double weights[CLASSES] = {0};
	size_t left = 0;

	begin(found, 48, CLASSES);
	for (size_t bin = 0; bin < 48; bin++) {
		if (left-- == 0) {
			double sum = 0;

			left = 4 + below(40);
			for (size_t c = 0; c < CLASSES; c++)
				sum += weights[c] = chance() * chance();
			for (size_t c = 0; c < CLASSES; c++)
				weights[c] /= sum;
		}
		for (unsigned i = 0; i < 5; i++)
			found->cells[bin * CLASSES + draw(weights, CLASSES)]++;
	}
}

static void test_phase_segments__descriptions_are_as_short_as_the_best_division_of_all(void **state)
{
	static struct found found;
	unsigned best = 0;

	(void)state;
	for (unsigned run = 0; run < 100; run++) {
		struct ctx_phase_code code;
		double wanted;

		random_state = run + 1;
		make_random(&found);
		find(&found);
		assert_int_equal(ctx_phase_code_init(&found.counts, found.segments.dispersion, &code, NULL),
				 CTX_OK);
		wanted = best_bits(&code);
		assert_true(found.segments.bits >= wanted - 1e-6);
		assert_true(found.segments.bits <= wanted * 1.03 + 5);
		best += found.segments.bits <= wanted + 1e-6;
		ctx_phase_code_deinit(&code);
		ctx_phase_segments_deinit(&found.segments);
	}
	assert_true(best >= 98);
}

/* ---- known phases ---- */

static void fill(struct found *found, size_t from, size_t to, const double *weights, unsigned samples)
{
	for (size_t bin = from; bin < to; bin++) {
		for (unsigned i = 0; i < samples; i++)
			found->cells[bin * found->counts.n_classes +
				     draw(weights, found->counts.n_classes)]++;
	}
}

static void assert_segment(const struct found *found, size_t i, size_t from, size_t to, uint32_t letter)
{
	const struct ctx_phase_segment *segment = &found->segments.items[i];

	assert_in_range(segment->begin, from == 0 ? 0 : from - 2, from + 2);
	assert_in_range(segment->end, to - 2, to + 2);
	assert_int_equal(segment->letter, letter);
}

static void test_phase_segments__phases_that_recur_have_the_same_letter(void **state)
{
	static const double parse[] = {0.6, 0.3, 0.05, 0.05}, solve[] = {0.1, 0.1, 0.7, 0.1},
			    report[] = {0.05, 0.05, 0.1, 0.8};
	static struct found found;

	(void)state;
	random_state = 7;
	begin(&found, 256, CLASSES);
	fill(&found, 0, 60, parse, 4);
	fill(&found, 60, 100, solve, 4);
	fill(&found, 100, 150, parse, 4);
	fill(&found, 150, 220, solve, 4);
	fill(&found, 220, 256, report, 4);
	find(&found);
	assert_int_equal(found.segments.n, 5);
	assert_int_equal(found.segments.n_letters, 3);
	assert_segment(&found, 0, 0, 60, 0);
	assert_segment(&found, 1, 60, 100, 1);
	assert_segment(&found, 2, 100, 150, 0);
	assert_segment(&found, 3, 150, 220, 1);
	assert_segment(&found, 4, 220, 256, 2);
	for (size_t a = 0; a < 3; a++) {
		for (size_t b = 0; b < 3; b++) {
			double similarity = found.segments.similarity[a * 3 + b];

			assert_true(a == b ? similarity == 1 : similarity > 0 && similarity < 0.8);
			assert_true(similarity == found.segments.similarity[b * 3 + a]);
		}
	}
	ctx_phase_segments_deinit(&found.segments);
}

/* Neither border alone makes the description shorter. */
static void test_phase_segments__a_short_phase_within_a_long_one_is_found(void **state)
{
	static const double around[] = {0.97, 0.01, 0.01, 0.01}, within[] = {0.37, 0.61, 0.01, 0.01};
	static struct found found;

	(void)state;
	random_state = 21;
	begin(&found, 512, CLASSES);
	fill(&found, 0, 250, around, 4);
	fill(&found, 250, 262, within, 4);
	fill(&found, 262, 512, around, 4);
	find(&found);
	assert_int_equal(found.segments.n, 3);
	assert_segment(&found, 0, 0, 250, 0);
	assert_segment(&found, 1, 250, 262, 1);
	assert_segment(&found, 2, 262, 512, 0);
	ctx_phase_segments_deinit(&found.segments);
}

/* A million samples prove that 50 % differs from 53 %, but nobody asks for such a phase. */
static void test_phase_segments__small_changes_are_no_phase(void **state)
{
	static struct found found;

	(void)state;
	begin(&found, 1024, 2);
	for (size_t bin = 0; bin < 1024; bin++) {
		found.cells[2 * bin] = bin < 512 ? 500 : 530;
		found.cells[2 * bin + 1] = 1000 - found.cells[2 * bin];
	}
	find(&found);
	assert_int_equal(found.segments.n, 1);
	ctx_phase_segments_deinit(&found.segments);
	for (size_t bin = 0; bin < 1024; bin++)
		found.cells[2 * bin + (bin >= 700)] += 1000;
	find(&found);
	assert_int_equal(found.segments.n, 2);
	assert_int_equal(found.segments.items[1].begin, 700);
	ctx_phase_segments_deinit(&found.segments);
}

static void test_phase_segments__nothing_is_one_phase_or_none(void **state)
{
	static struct found found;

	(void)state;
	begin(&found, 0, CLASSES);
	find(&found);
	assert_int_equal(found.segments.n, 0);
	begin(&found, 1, 1);
	find(&found);
	assert_int_equal(found.segments.n, 1);
	ctx_phase_segments_deinit(&found.segments);
	begin(&found, 128, CLASSES); /* no samples */
	find(&found);
	assert_int_equal(found.segments.n, 1);
	assert_int_equal(found.segments.items[0].end, 128);
	assert_int_equal(found.segments.n_letters, 1);
	ctx_phase_segments_deinit(&found.segments);
	found.cells[5] = 1; /* one */
	find(&found);
	assert_int_equal(found.segments.n, 1);
	ctx_phase_segments_deinit(&found.segments);
}

/* ---- noise ---- */

/* A program that stays in a class for so many samples in the mean. */
static void make_noise(struct found *found, unsigned samples, double stays, size_t n_classes)
{
	double weights[16], sum = 0;
	size_t now = 0;

	begin(found, 256, n_classes);
	for (size_t c = 0; c < n_classes; c++)
		sum += weights[c] = 1.0 / (double)(c + 1);
	for (size_t c = 0; c < n_classes; c++)
		weights[c] /= sum;
	for (unsigned i = 0; i < samples; i++) {
		if (i == 0 || chance() * stays < 1)
			now = draw(weights, n_classes);
		found->cells[(size_t)i * 256 / samples * n_classes + now]++;
	}
}

static void test_phase_segments__noise_alone_makes_no_phases(void **state)
{
	static const struct {
		double stays;
		size_t n_classes;
	} kinds[] = {{1, 2}, {1, 16}, {5, 8}, {20, 2}, {20, 16}};
	static struct found found;

	(void)state;
	for (size_t kind = 0; kind < sizeof(kinds) / sizeof(kinds[0]); kind++) {
		unsigned wrong = 0;

		for (unsigned run = 0; run < 100; run++) {
			random_state = 1 + run + 1000 * kind;
			make_noise(&found, 2000, kinds[kind].stays, kinds[kind].n_classes);
			find(&found);
			wrong += found.segments.n > 1;
			ctx_phase_segments_deinit(&found.segments);
		}
		assert_in_range(wrong, 0, 5);
	}
}

/* Of samples that stay for s in the mean the variance of sums is 2 s - 1 times as large. */
static void test_phase_segments__dispersion_is_that_of_the_noise(void **state)
{
	static struct found found;
	struct ctx_phase_noise noise;

	(void)state;
	random_state = 3;
	make_noise(&found, 100000, 1, 8);
	assert_int_equal(ctx_phase_noise(&found.counts, &noise, NULL), CTX_OK);
	assert_true(noise.of[0] >= 1 && noise.of[0] < 2.5);
	make_noise(&found, 100000, 20, 8);
	assert_int_equal(ctx_phase_noise(&found.counts, &noise, NULL), CTX_OK);
	assert_true(noise.of[0] > 30 && noise.of[0] < 100);
	/* They stay for longer than a bin: larger blocks show it. */
	make_noise(&found, 20000, 100, 2);
	assert_int_equal(ctx_phase_noise(&found.counts, &noise, NULL), CTX_OK);
	assert_true(noise.of[0] > 130 && noise.of[0] < 500);
}

static void test_phase_segments__a_border_is_no_noise(void **state)
{
	static const double before[] = {0.9, 0.1}, after[] = {0.1, 0.9};
	static struct found found;
	struct ctx_phase_noise noise;

	(void)state;
	random_state = 5;
	begin(&found, 256, 2);
	fill(&found, 0, 100, before, 8);
	fill(&found, 100, 256, after, 8);
	assert_int_equal(ctx_phase_noise(&found.counts, &noise, NULL), CTX_OK);
	assert_true(noise.of[0] < 2.5);
}

/* ---- memory ---- */

static void test_phase_segments__memory_may_run_out_anywhere(void **state)
{
	static struct found found;
	struct ctx_err err;
	enum ctx_status status = CTX_E_NOMEM;
	unsigned failures = 0;

	(void)state;
	random_state = 9;
	make_random(&found);
	for (long i = 0; status != CTX_OK; i++) {
		fail_after = i;
		status = ctx_phases_find(&found.counts, &found.segments, &err);
		fail_after = -1;
		assert_true(status == CTX_OK || status == CTX_E_NOMEM);
		failures += status == CTX_E_NOMEM;
		assert_true(status == CTX_OK || found.segments.items == NULL);
	}
	assert_true(failures >= 8);
	ctx_phase_segments_deinit(&found.segments);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phase_segments__bits_are_those_of_coding_sample_by_sample),
		cmocka_unit_test(test_phase_segments__divergence_of_known_histograms),
		cmocka_unit_test(test_phase_segments__descriptions_are_as_short_as_the_best_division_of_all),
		cmocka_unit_test(test_phase_segments__phases_that_recur_have_the_same_letter),
		cmocka_unit_test(test_phase_segments__a_short_phase_within_a_long_one_is_found),
		cmocka_unit_test(test_phase_segments__small_changes_are_no_phase),
		cmocka_unit_test(test_phase_segments__nothing_is_one_phase_or_none),
		cmocka_unit_test(test_phase_segments__noise_alone_makes_no_phases),
		cmocka_unit_test(test_phase_segments__dispersion_is_that_of_the_noise),
		cmocka_unit_test(test_phase_segments__a_border_is_no_noise),
		cmocka_unit_test(test_phase_segments__memory_may_run_out_anywhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
