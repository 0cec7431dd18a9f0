/* Periods of series: known ones, and noise. */
#include "timetree/period.h"

#include "chance.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define STEPS 4096u

static double series[STEPS];

static double chance(void)
{
	return (double)below(1u << 30) / (1u << 30);
}

/* About normal, of deviation one. */
static double deviate(void)
{
	double sum = -6;

	for (unsigned i = 0; i < 12; i++)
		sum += chance();
	return sum;
}

/* Busy for so many steps at the begin of each period, whose length varies. */
static void make_frames(size_t n, double period, double jitter, double busy)
{
	double next = 0, until = 0;

	for (size_t i = 0; i < n; i++) {
		if ((double)i >= next) {
			until = (double)i + busy;
			next += period + jitter * deviate();
		}
		series[i] = (double)i < until && chance() < 0.9;
	}
}

static void test_period__frames_have_their_length_and_jitter(void **state)
{
	static const struct {
		double period, jitter, busy;
	} frames[] = {{16.67, 0, 5}, {16.67, 2, 5}, {100, 5, 20}, {7, 0, 2}, {400, 10, 100}};

	(void)state;
	for (size_t i = 0; i < sizeof(frames) / sizeof(frames[0]); i++) {
		struct ctx_period period;

		random_state = i + 1;
		make_frames(STEPS, frames[i].period, frames[i].jitter, frames[i].busy);
		assert_int_equal(ctx_period_find(series, STEPS, &period, NULL), CTX_OK);
		/* The mean of that many cycles varies, too. */
		assert_true(fabs(period.length - frames[i].period) <
			    frames[i].period / 100 + 3 * frames[i].jitter / sqrt(STEPS / frames[i].period));
		assert_true(fabs(period.jitter - frames[i].jitter) < 1.2 + frames[i].jitter * 0.5);
		assert_true(period.strength > 0.1 && period.strength <= 1);
		assert_in_range(period.cycles, (size_t)(0.7 * STEPS / frames[i].period),
				(size_t)(1.05 * STEPS / frames[i].period));
	}
}

static void make_noise(unsigned kind, size_t n)
{
	double value = 0;

	for (size_t i = 0; i < n; i++) {
		if (kind == 0)
			value = chance() < 0.3;
		else if (kind == 1) /* on and off for 20 steps in the mean */
			value = chance() < 0.05 ? 1 - value : value;
		else /* that resembles itself */
			value = 0.95 * value + deviate();
		series[i] = value;
	}
}

static void test_period__noise_has_none(void **state)
{
	static const size_t lengths[] = {200, 1000, STEPS};
	unsigned wrong = 0;

	(void)state;
	for (unsigned run = 0; run < 300; run++) {
		struct ctx_period period;

		random_state = run + 1;
		make_noise(run % 3, lengths[run / 3 % 3]);
		wrong += ctx_period_find(series, lengths[run / 3 % 3], &period, NULL) != CTX_END;
	}
	assert_in_range(wrong, 0, 3);
}

/* It resembles itself once, fifty steps later, and not at a hundred. */
static void test_period__an_echo_is_none(void **state)
{
	struct ctx_period period;

	(void)state;
	random_state = 1;
	for (size_t i = 0; i < STEPS; i++)
		series[i] = deviate();
	for (size_t i = STEPS; i-- > 50;)
		series[i] += series[i - 50];
	assert_int_equal(ctx_period_find(series, STEPS, &period, NULL), CTX_END);
}

static void test_period__nothing_and_a_single_change_have_none(void **state)
{
	struct ctx_period period;

	(void)state;
	memset(series, 0, sizeof(series));
	assert_int_equal(ctx_period_find(series, 0, &period, NULL), CTX_END);
	assert_int_equal(ctx_period_find(series, STEPS, &period, NULL), CTX_END);
	for (size_t i = STEPS / 2; i < STEPS; i++)
		series[i] = 1;
	assert_int_equal(ctx_period_find(series, STEPS, &period, NULL), CTX_END);
	/* Fewer cycles than a period needs. */
	for (size_t i = 0; i < STEPS; i++)
		series[i] = sin((double)i * 2 * 3.14159265 / (STEPS / 5.0));
	assert_int_equal(ctx_period_find(series, STEPS, &period, NULL), CTX_END);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_period__frames_have_their_length_and_jitter),
		cmocka_unit_test(test_period__noise_has_none),
		cmocka_unit_test(test_period__an_echo_is_none),
		cmocka_unit_test(test_period__nothing_and_a_single_change_have_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
