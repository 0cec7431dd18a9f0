/*
 * Kinds and units of metrics: what may be done with the weights of each, and the words of both.
 */
#include "base/mem.h"
#include "model/event_source.h"
#include "model/metric.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static const struct {
	enum ctx_metric_kind kind;
	enum ctx_unit unit;
	const char *kind_word, *unit_word;
	bool clipped, counted, time, running;
} kinds[] = {
	{CTX_METRIC_EVENTS, CTX_UNIT_EVENTS, "events", "events", false, false, false, false},
	{CTX_METRIC_CPU_TIME, CTX_UNIT_NS, "cpu-time", "ns", false, false, true, true},
	{CTX_METRIC_THREAD_TIME, CTX_UNIT_NS, "thread-time", "ns", false, false, true, false},
	{CTX_METRIC_SPAN, CTX_UNIT_NS, "span", "ns", true, false, true, false},
	{CTX_METRIC_DURATION, CTX_UNIT_NS, "duration", "ns", false, false, true, false},
	{CTX_METRIC_BYTES, CTX_UNIT_BYTES, "bytes", "bytes", false, false, false, false},
	{CTX_METRIC_COUNT, CTX_UNIT_NONE, "count", "", false, true, false, false},
	{CTX_METRIC_CALL_SPAN, CTX_UNIT_NS, "call-span", "ns", true, false, true, false},
	{CTX_METRIC_OMP_SPAN, CTX_UNIT_NS, "omp-span", "ns", true, false, true, false},
};

static struct ctx_metric_info metric_of(size_t i)
{
	return (struct ctx_metric_info){.name = "x", .kind = kinds[i].kind, .unit = kinds[i].unit};
}

static void test_metric__an_interval_cuts_samples_of_spans_and_of_no_other_kind(void **state)
{
	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		struct ctx_metric_info metric = metric_of(i);

		assert_int_equal(ctx_metric_is_clipped(&metric), kinds[i].clipped);
	}
}

static void test_metric__samples_of_a_count_alone_weigh_one_each(void **state)
{
	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		struct ctx_metric_info metric = metric_of(i);

		assert_int_equal(ctx_metric_is_count(&metric), kinds[i].counted);
	}
}

static void test_metric__times_are_divided_by_time(void **state)
{
	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		struct ctx_metric_info metric = metric_of(i);

		assert_int_equal(ctx_metric_is_time(&metric), kinds[i].time);
	}
}

static void test_metric__clocks_of_cpu_time_and_what_runs_with_them_show_running(void **state)
{
	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++)
		assert_int_equal(ctx_metric_shows_running(kinds[i].kind, "x"), kinds[i].running);
	assert_true(ctx_metric_shows_running(CTX_METRIC_EVENTS, "cpu_core/cycles/u"));
	assert_true(ctx_metric_shows_running(CTX_METRIC_EVENTS, "instructions:u"));
	assert_false(ctx_metric_shows_running(CTX_METRIC_EVENTS, "page-faults"));
}

static void test_metric__every_kind_and_unit_has_its_own_word(void **state)
{
	(void)state;
	assert_int_equal(CTX_COUNT_OF(kinds), CTX_METRIC_KIND_N - 1);
	for (size_t i = 0; i < CTX_COUNT_OF(kinds); i++) {
		assert_string_equal(ctx_metric_kind_word(kinds[i].kind), kinds[i].kind_word);
		assert_int_equal(ctx_metric_kind_of_word(kinds[i].kind_word), kinds[i].kind);
		assert_string_equal(ctx_unit_word(kinds[i].unit), kinds[i].unit_word);
		assert_int_equal(ctx_unit_of_word(kinds[i].unit_word), kinds[i].unit);
	}
	assert_int_equal(ctx_metric_kind_of_word("nothing"), CTX_METRIC_BY_UNIT);
	assert_int_equal(ctx_metric_kind_of_word(""), CTX_METRIC_BY_UNIT);
	assert_int_equal(ctx_unit_of_word("Joules"), CTX_UNIT_NONE);
}

/* In all else the kind is more than the unit says: only sources know that. */
static void test_metric__a_source_without_a_kind_has_that_of_the_unit(void **state)
{
	static const enum ctx_metric_kind of_unit[CTX_UNIT_N] = {[CTX_UNIT_NONE] = CTX_METRIC_EVENTS,
								 [CTX_UNIT_NS] = CTX_METRIC_CPU_TIME,
								 [CTX_UNIT_BYTES] = CTX_METRIC_BYTES,
								 [CTX_UNIT_EVENTS] = CTX_METRIC_EVENTS};

	(void)state;
	for (unsigned unit = 0; unit < CTX_UNIT_N; unit++) {
		struct ctx_source_metric metric = {.name = "x", .unit = (enum ctx_unit)unit};

		assert_int_equal(ctx_source_metric_kind(&metric), of_unit[unit]);
		metric.kind = CTX_METRIC_THREAD_TIME;
		assert_int_equal(ctx_source_metric_kind(&metric), CTX_METRIC_THREAD_TIME);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_metric__an_interval_cuts_samples_of_spans_and_of_no_other_kind),
		cmocka_unit_test(test_metric__samples_of_a_count_alone_weigh_one_each),
		cmocka_unit_test(test_metric__times_are_divided_by_time),
		cmocka_unit_test(test_metric__clocks_of_cpu_time_and_what_runs_with_them_show_running),
		cmocka_unit_test(test_metric__every_kind_and_unit_has_its_own_word),
		cmocka_unit_test(test_metric__a_source_without_a_kind_has_that_of_the_unit),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
