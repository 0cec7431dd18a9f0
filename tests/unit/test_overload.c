/*
 * What the recorder decides under load: its priority, whether it unwinds.
 */
#include "collect/pressure.h"
#include "collect/priority.h"

#include <sched.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_pressure__is_late_when_it_waited_too_long_or_found_much(void **state)
{
	(void)state;
	assert_false(ctx_pressure_is_late(100, 100, 0));
	assert_false(ctx_pressure_is_late(150, 100, 50));
	assert_true(ctx_pressure_is_late(151, 100, 0));
	assert_true(ctx_pressure_is_late(0, 100, 51));
	assert_false(ctx_pressure_is_late(51, 1, 26));
}

static void test_pressure__skips_unwinding_only_while_rings_become_fuller(void **state)
{
	(void)state;
	/* Full, after a late wake-up: emptied. */
	assert_false(ctx_pressure_hurries(false, 100, 90));
	assert_false(ctx_pressure_hurries(false, 80, 79));
	/* Full and not becoming emptier. */
	assert_true(ctx_pressure_hurries(false, 100, 100));
	assert_true(ctx_pressure_hurries(false, 75, 75));
	assert_false(ctx_pressure_hurries(false, 60, 74));
	/* Until half of it is free. */
	assert_true(ctx_pressure_hurries(true, 90, 70));
	assert_true(ctx_pressure_hurries(true, 60, 50));
	assert_false(ctx_pressure_hurries(true, 60, 49));
}

static void test_priority__is_described_in_one_line(void **state)
{
	const struct ctx_priority_attr realtime = {.policy = SCHED_FIFO, .realtime = 3, .nice = 5};
	const struct ctx_priority_attr nice = {.policy = SCHED_OTHER, .nice = -20, .slice_ns = 100000};
	const struct ctx_priority_attr usual = {.policy = SCHED_OTHER};
	char text[64];

	(void)state;
	ctx_priority_describe(&realtime, text, sizeof(text));
	assert_string_equal(text, "real-time 3");
	ctx_priority_describe(&nice, text, sizeof(text));
	assert_string_equal(text, "nice -20, slices of 0.1 ms");
	ctx_priority_describe(&usual, text, sizeof(text));
	assert_string_equal(text, "nice 0");
}

static void test_priority__is_the_callers_again_at_the_end(void **state)
{
	struct ctx_priority_attr before = ctx_priority_get(), after;
	struct ctx_priority priority;

	(void)state;
	assert_int_equal(ctx_priority_raise(&priority, CTX_PRIORITY_AUTO, NULL), CTX_OK);
	(void)ctx_priority_rise(&priority);
	assert_false(ctx_priority_rise(&priority));
	/* Going back to the caller's never needs a right. */
	ctx_priority_restore(&priority);
	after = ctx_priority_get();
	assert_int_equal(after.policy, before.policy);
	assert_int_equal(after.nice, before.nice);
	assert_int_equal(after.realtime, before.realtime);
	assert_false(ctx_priority_rise(&priority));
}

static void test_priority__stays_as_it_is_when_asked(void **state)
{
	struct ctx_priority_attr before = ctx_priority_get(), after;
	struct ctx_priority priority;

	(void)state;
	assert_int_equal(ctx_priority_raise(&priority, 0, NULL), CTX_OK);
	assert_false(ctx_priority_rise(&priority));
	after = ctx_priority_get();
	assert_memory_equal(&after, &before, sizeof(after));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pressure__is_late_when_it_waited_too_long_or_found_much),
		cmocka_unit_test(test_pressure__skips_unwinding_only_while_rings_become_fuller),
		cmocka_unit_test(test_priority__is_described_in_one_line),
		cmocka_unit_test(test_priority__is_the_callers_again_at_the_end),
		cmocka_unit_test(test_priority__stays_as_it_is_when_asked),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
