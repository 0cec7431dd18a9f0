/* Words of calls in rings, as events; ticks as times; the nops that compilers leave. */
#include "collect/call_clock.h"
#include "collect/trace_calls.h"
#include "collect/trace_texts.h"
#include "runtime/rt_nops.h"

#include "base/mem.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* Ticks are times. */
static struct ctx_call_clock *plain_clock(void)
{
	static struct ctx_call_clock clock;

	clock = (struct ctx_call_clock){.n = 2, .pairs = {{0, 0}, {1, 1}}};
	return &clock;
}

static bool sync_with(struct ctx_trace_call_state *state, uint64_t ticks, uint64_t kept, uint64_t resumed,
		      struct ctx_trace_calls *ret)
{
	const struct ctx_trace_record record = {.kind = CTX_RT_CALLS, .words = {ticks, kept, 0, 0, resumed}};

	return ctx_trace_calls_sync(&record, state, plain_clock(), ret);
}

static void test_trace_calls__words_are_begins_and_ends(void **state)
{
	static struct ctx_trace_calls calls;
	const uint64_t words[] = {
		ctx_rt_call_enter(5, 0x1000),		ctx_rt_call_word(CTX_RT_CALL_ADVANCE, 100000),
		ctx_rt_call_enter(0, 0x7fffffffffff),	ctx_rt_call_enter(CTX_RT_CALL_TICKS_MAX, 0x1000),
		ctx_rt_call_word(CTX_RT_CALL_LEAVE, 7), ctx_rt_call_word(CTX_RT_CALL_UNWIND, 2)};
	struct ctx_trace_call_state at = {0};

	(void)state;
	assert_true(sync_with(&at, 1000, 0, 1, &calls));
	assert_int_equal(calls.n, 0);
	assert_int_equal(ctx_trace_calls_read(words, CTX_COUNT_OF(words), &at, plain_clock(), &calls), 0);
	assert_int_equal(calls.n, 5);
	assert_int_equal(calls.depth, 0);
	assert_int_equal(calls.items[0].time_ns, 1005);
	assert_int_equal(calls.items[0].function, 0x1000);
	assert_true(calls.items[0].resumed);
	assert_int_equal(calls.items[1].time_ns, 101005);
	assert_int_equal(calls.items[1].function, 0x7fffffffffff);
	assert_false(calls.items[1].resumed);
	assert_int_equal(calls.items[2].time_ns, 101005 + CTX_RT_CALL_TICKS_MAX);
	assert_int_equal(calls.items[3].left, 1);
	assert_false(calls.items[3].unwound);
	assert_int_equal(calls.items[3].time_ns, 101012 + CTX_RT_CALL_TICKS_MAX);
	assert_int_equal(calls.items[4].left, 2);
	assert_true(calls.items[4].unwound);
	assert_int_equal(at.depth, 0);
}

/* A period of 2000 ticks that takes 1000 ns: A called 5 times, B below it 7 times, C beside B was open; then how long calls of B took. */
static void test_trace_calls__sums_are_a_walk_through_the_tree(void **state)
{
	static struct ctx_trace_calls calls;
	const uint64_t words[] = {
		ctx_rt_sum_word(CTX_RT_SUM_BEGIN, 70000),
		ctx_rt_sum_word(CTX_RT_SUM_TICKS, 2000),
		ctx_rt_sum_word(CTX_RT_SUM_END, 71000),
		ctx_rt_sum_word(CTX_RT_SUM_CALLS, 5),
		ctx_rt_call_enter(0, 0xa),
		ctx_rt_sum_word(CTX_RT_SUM_CALLS, 7),
		ctx_rt_call_enter(1000, 0xb),
		ctx_rt_call_word(CTX_RT_CALL_ADVANCE, 1000),
		ctx_rt_call_word(CTX_RT_CALL_UNWIND, 1),
		ctx_rt_sum_word(CTX_RT_SUM_CALLS, 0),
		ctx_rt_call_enter(0, 0xc),
		ctx_rt_sum_word(CTX_RT_SUM_FUNCTION, 0xb),
		ctx_rt_sum_word(CTX_RT_SUM_CALLS, 7),
		ctx_rt_sum_word(CTX_RT_SUM_TOOK, 142),
		ctx_rt_sum_word(CTX_RT_SUM_DONE, 0),
	};
	static const struct ctx_exp_call wanted[] = {
		{.time_ns = 70000, .function = 0xa, .is_sum = true, .calls = 5},
		{.time_ns = 70500, .function = 0xb, .is_sum = true, .calls = 7},
		/* What begins does so within the period. */
		{.time_ns = 70999, .function = 0xc, .left = 1, .is_sum = true},
		{.time_ns = 70999, .function = 0xb, .took_ns = 71, .calls = 7},
		{.time_ns = 71000, .left = 2, .unwound = true}};
	struct ctx_trace_call_state at = {0};

	(void)state;
	assert_true(sync_with(&at, 123456, 0, 0, &calls));
	assert_int_equal(ctx_trace_calls_read(words, CTX_COUNT_OF(words), &at, plain_clock(), &calls), 0);
	assert_int_equal(calls.n, CTX_COUNT_OF(wanted));
	for (size_t i = 0; i < calls.n; i++) {
		assert_int_equal(calls.items[i].time_ns, wanted[i].time_ns);
		assert_int_equal(calls.items[i].function, wanted[i].function);
		assert_int_equal(calls.items[i].left, wanted[i].left);
		assert_int_equal(calls.items[i].is_sum, wanted[i].is_sum);
		assert_int_equal(calls.items[i].took_ns, wanted[i].took_ns);
		assert_int_equal(calls.items[i].calls, wanted[i].calls);
	}
	assert_int_equal(at.depth, 0);
}

/* A thread that was in no call for half of a period: what it called does not last until its end. */
static void test_trace_calls__a_period_may_be_longer_than_its_calls(void **state)
{
	static struct ctx_trace_calls calls;
	const uint64_t words[] = {ctx_rt_sum_word(CTX_RT_SUM_BEGIN, 70000),
				  ctx_rt_sum_word(CTX_RT_SUM_TICKS, 2000),
				  ctx_rt_sum_word(CTX_RT_SUM_END, 71000),
				  ctx_rt_sum_word(CTX_RT_SUM_CALLS, 5),
				  ctx_rt_call_enter(0, 0xa),
				  ctx_rt_call_word(CTX_RT_CALL_ADVANCE, 1000),
				  ctx_rt_sum_word(CTX_RT_SUM_DONE, 0)};
	struct ctx_trace_call_state at = {0};

	(void)state;
	assert_true(sync_with(&at, 123456, 0, 0, &calls));
	assert_int_equal(ctx_trace_calls_read(words, CTX_COUNT_OF(words), &at, plain_clock(), &calls), 0);
	assert_int_equal(calls.n, 2);
	assert_int_equal(calls.items[0].time_ns, 70000);
	assert_int_equal(calls.items[1].time_ns, 70500);
	assert_int_equal(calls.items[1].left, 1);
}

/* Any words: nothing goes back in time within a period, no more calls end than are open. */
static void test_trace_calls__sums_of_any_words_make_sense(void **state)
{
	static struct ctx_trace_calls calls;
	uint64_t seed = 1;

	(void)state;
	for (unsigned round = 0; round < 3000; round++) {
		struct ctx_trace_call_state at = {0};
		uint64_t words[200], depth = 0;

		for (size_t i = 0; i < CTX_COUNT_OF(words); i++) {
			uint64_t kind = random_below(&seed, 10);

			words[i] =
				kind < 5 ? ctx_rt_sum_word((enum ctx_rt_sum)random_below(&seed, 8),
							   random_of(&seed) % 5000)
				: kind < 8
					? ctx_rt_call_enter(random_below(&seed, 1000), random_below(&seed, 3))
					: ctx_rt_call_word((enum ctx_rt_call)(12 + random_below(&seed, 3)),
							   random_of(&seed) % 50);
		}
		assert_true(sync_with(&at, 1000, 0, 0, &calls));
		(void)ctx_trace_calls_read(words, CTX_COUNT_OF(words), &at, plain_clock(), &calls);
		for (size_t i = 0; i < calls.n; i++) {
			assert_true(calls.items[i].left <= depth);
			depth = depth - calls.items[i].left +
				(calls.items[i].function != 0 && calls.items[i].took_ns == 0);
		}
		assert_int_equal(depth, at.depth + at.sums.left);
	}
}

static void test_trace_calls__where_words_are_missing_calls_end(void **state)
{
	static struct ctx_trace_calls calls;
	const uint64_t words[] = {ctx_rt_call_enter(1, 1), ctx_rt_call_enter(1, 2), ctx_rt_call_enter(1, 3)};
	const uint64_t anew[] = {ctx_rt_call_enter(0, 2), ctx_rt_call_enter(0, 7)};
	const struct ctx_trace_record record = {.kind = CTX_RT_CALLS,
						.words = {900, 1, 44, 700, UINT64_C(1) << 32}};
	struct ctx_trace_calls_lost lost = {0};
	struct ctx_trace_call_state at = {0};

	(void)state;
	assert_true(sync_with(&at, 100, 0, 0, &calls));
	assert_int_equal(ctx_trace_calls_read(words, 3, &at, plain_clock(), &calls), 0);
	assert_true(ctx_trace_calls_sync(&record, &at, plain_clock(), &calls));
	ctx_trace_calls_add_lost(&record, plain_clock(), &lost);
	assert_int_equal(calls.n, 2);
	assert_int_equal(calls.depth, 3);
	assert_int_equal(calls.items[0].left, 2);
	assert_true(calls.items[0].unwound && calls.items[0].resumed);
	assert_int_equal(calls.items[0].time_ns, 700);
	assert_int_equal(calls.items[0].function, CTX_EXP_CALLS_LOST);
	assert_int_equal(calls.items[0].lost, 44);
	assert_int_equal(calls.items[1].time_ns, 900);
	assert_int_equal(calls.items[1].left, 1);
	assert_int_equal(calls.items[1].function, 0);
	assert_int_equal(at.depth, 1);
	/* Of the next that begin the first has begun before. */
	assert_int_equal(ctx_trace_calls_read(anew, 2, &at, plain_clock(), &calls), 0);
	assert_true(calls.items[0].unseen && !calls.items[1].unseen);
	assert_int_equal(lost.words, 44);
	assert_int_equal(lost.intervals, 1);
	assert_int_equal(lost.first_ns, 700);
	assert_int_equal(lost.last_ns, 900);
}

static void test_trace_calls__what_a_thread_could_not_write_before_its_end_is_missing(void **state)
{
	static struct ctx_trace_calls calls;
	const uint64_t words[] = {ctx_rt_call_enter(1, 1), ctx_rt_call_enter(1, 2)};
	struct ctx_trace_call_state at = {0};

	(void)state;
	assert_true(sync_with(&at, 100, 0, 0, &calls));
	assert_int_equal(ctx_trace_calls_read(words, 2, &at, plain_clock(), &calls), 0);
	ctx_trace_calls_end_lost(9, 500, &at, plain_clock(), &calls);
	assert_int_equal(calls.n, 1);
	assert_int_equal(calls.depth, 2);
	assert_int_equal(calls.items[0].left, 2);
	assert_int_equal(calls.items[0].time_ns, 500);
	assert_int_equal(calls.items[0].lost, 9);
	/* Sums: another thread may write them yet. */
	at = (struct ctx_trace_call_state){0};
	ctx_trace_calls_end_unwritten(800, &at, &calls);
	assert_int_equal(calls.n, 1);
	assert_int_equal(calls.items[0].time_ns, 800);
	assert_int_equal(calls.items[0].function, CTX_EXP_CALLS_LOST);
	assert_true(sync_with(&at, 850, 0, 0, &calls));
	assert_int_equal(calls.n, 1);
	assert_int_equal(calls.items[0].left, 1);
}

static void test_trace_calls__counters_are_of_the_innermost_call(void **state)
{
	static struct ctx_trace_calls calls;
	const uint64_t count = UINT64_C(3) << 48 | 4096;
	const uint64_t words[] = {
		ctx_rt_sum_word(CTX_RT_SUM_COUNT, count), /* nothing is open */
		ctx_rt_call_enter(1, 1),
		ctx_rt_call_word(CTX_RT_CALL_ADVANCE, 9),
		ctx_rt_sum_word(CTX_RT_SUM_COUNT, count),
		ctx_rt_sum_word(CTX_RT_SUM_COUNT, 3),			  /* the first one */
		ctx_rt_sum_word(CTX_RT_SUM_COUNT, UINT64_C(9) << 48 | 1), /* there is none */
		ctx_rt_call_word(CTX_RT_CALL_LEAVE, 0)};
	struct ctx_trace_call_state at = {0};

	(void)state;
	assert_true(sync_with(&at, 100, 0, 0, &calls));
	assert_int_equal(ctx_trace_calls_read(words, CTX_COUNT_OF(words), &at, plain_clock(), &calls), 2);
	assert_int_equal(calls.n, 4);
	assert_int_equal(calls.items[1].counter, CTX_CALL_COUNTER_ALLOCATED);
	assert_int_equal(calls.items[1].counted, 4096);
	assert_int_equal(calls.items[1].time_ns, 110);
	assert_int_equal(calls.items[1].left, 0);
	assert_int_equal(calls.items[2].counter, CTX_CALL_COUNTER_FAULTS);
	assert_int_equal(calls.items[2].counted, 3);
	assert_int_equal(calls.items[3].left, 1);
}

static void test_trace_calls__what_makes_no_sense_is_counted(void **state)
{
	static struct ctx_trace_calls calls;
	const uint64_t words[] = {ctx_rt_call_word(CTX_RT_CALL_LEAVE, 1),
				  ctx_rt_call_enter(1, 0),
				  ctx_rt_call_word(CTX_RT_CALL_UNWIND, 1),
				  ctx_rt_call_word(CTX_RT_CALL_UNWIND, 0),
				  ctx_rt_call_enter(1, 9),
				  ctx_rt_call_word(CTX_RT_CALL_UNWIND, 5)};
	struct ctx_trace_call_state at = {0};

	(void)state;
	/* Before it is known where the ring begins all of it is. */
	assert_int_equal(ctx_trace_calls_read(words, CTX_COUNT_OF(words), &at, plain_clock(), &calls),
			 CTX_COUNT_OF(words));
	assert_int_equal(calls.n, 0);
	assert_true(sync_with(&at, 0, 0, 0, &calls));
	assert_int_equal(ctx_trace_calls_read(words, CTX_COUNT_OF(words), &at, plain_clock(), &calls), 5);
	assert_int_equal(calls.n, 1);
	assert_int_equal(at.depth, 1);
	assert_false(sync_with(&at, 0, UINT64_MAX, 0, &calls));
	assert_false(sync_with(&at, 0, 0, UINT64_MAX, &calls));
}

/* Any words: no more calls end than are open. */
static void test_trace_calls__any_words_give_events_that_fit(void **state)
{
	static struct ctx_trace_calls calls;
	uint64_t words[500], seed = 1;
	struct ctx_trace_call_state at = {0};

	(void)state;
	assert_true(sync_with(&at, 0, 3, 0, &calls));
	for (unsigned round = 0; round < 200; round++) {
		uint32_t depth = at.depth;

		for (size_t i = 0; i < CTX_COUNT_OF(words); i++) {
			seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407;
			words[i] = (uint64_t)1 << 63 | seed >> (seed >> 60);
		}
		(void)ctx_trace_calls_read(words, CTX_COUNT_OF(words), &at, plain_clock(), &calls);
		assert_int_equal(calls.depth, depth);
		for (size_t i = 0; i < calls.n; i++) {
			assert_true(calls.items[i].left <= depth);
			depth = depth - calls.items[i].left + (calls.items[i].function != 0);
		}
		assert_int_equal(depth, at.depth);
	}
}

/* Against the pair of each tick, looked for from the beginning. */
static void test_trace_calls__between_two_pairs_time_goes_evenly(void **state)
{
	static struct ctx_call_clock clock;
	uint64_t last = 0;

	(void)state;
	clock = (struct ctx_call_clock){.has_tsc = true, .n = 2, .pairs = {{1000, 100}, {3000, 1100}}};
	for (uint64_t i = 0; i < 3000; i++) /* more than are kept; ticks of different lengths */
		ctx_call_clock_add(&clock, (struct ctx_call_pair){3000 + (i + 1) * 1000,
								  1100 + (i + 1) * CTX_CALL_CLOCK_STEP_NS});
	assert_int_equal(ctx_call_clock_ns(&clock, 3000 + 3000 * 1000), 1100 + 3000 * CTX_CALL_CLOCK_STEP_NS);
	assert_int_equal(ctx_call_clock_ns(&clock, 3000 + 2999 * 1000 + 250),
			 1100 + 2999 * CTX_CALL_CLOCK_STEP_NS + CTX_CALL_CLOCK_STEP_NS / 4);
	/* Behind the last one it goes on as before it. */
	assert_int_equal(ctx_call_clock_ns(&clock, 3000 + 3001 * 1000), 1100 + 3001 * CTX_CALL_CLOCK_STEP_NS);
	for (uint64_t ticks = 2900000; ticks < 3100000; ticks += 77) {
		uint64_t now = ctx_call_clock_ns(&clock, ticks);

		assert_true(now >= last);
		last = now;
	}
	/* Back again. */
	assert_int_equal(ctx_call_clock_ns(&clock, 3000 + 2999 * 1000), 1100 + 2999 * CTX_CALL_CLOCK_STEP_NS);
	/* A pair that goes back is none. */
	ctx_call_clock_add(&clock, (struct ctx_call_pair){5, 5});
	assert_int_equal(ctx_call_clock_ns(&clock, 3000 + 3000 * 1000), 1100 + 3000 * CTX_CALL_CLOCK_STEP_NS);
}

static void test_trace_calls__nops_are_counted_whole(void **state)
{
	static const struct {
		uint8_t n, wanted, bytes[12];
	} cases[] = {
		{5, 5, {0x90, 0x90, 0x90, 0x90, 0x90}},
		{5, 5, {0x0f, 0x1f, 0x44, 0x00, 0x08}},
		{6, 6, {0x66, 0x0f, 0x1f, 0x44, 0x00, 0x00}},
		{4, 0, {0x0f, 0x1f, 0x44, 0x00}},
		{8, 8, {0x0f, 0x1f, 0x84, 0x00, 0x00, 0x02, 0x00, 0x00}},
		{10, 10, {0x66, 0x2e, 0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}},
		{7, 7, {0x0f, 0x1f, 0x05, 0x00, 0x00, 0x00, 0x00}},
		{8, 8, {0x0f, 0x1f, 0x04, 0x25, 0x00, 0x00, 0x00, 0x00}},
		{3, 3, {0x0f, 0x1f, 0x00}},
		{4, 2, {0x66, 0x90, 0x55, 0x90}},
		{3, 0, {0x0f, 0x1f, 0xc0}}, /* of a register */
		{3, 0, {0x0f, 0x1f, 0x08}}, /* another instruction */
		{2, 0, {0x66, 0x66}},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++)
		assert_int_equal(ctx_rt_nops(cases[i].bytes, cases[i].n), cases[i].wanted);
}

static void test_trace_calls__a_program_without_hooks_is_told_how_to_get_them(void **state)
{
	struct ctx_trace_counts counts = {.processes = 1};
	const struct ctx_rec_trace trace = {.calls = true};
	char text[CTX_TRACE_TEXT_MAX];
	unsigned said = 0;

	(void)state;
	for (unsigned i = 0; i < CTX_TRACE_TEXTS; i++) {
		if (!ctx_trace_text(&counts, &trace, i, text))
			continue;
		said++;
		assert_non_null(strstr(text, "-finstrument-functions"));
		assert_non_null(strstr(text, "-fpatchable-function-entry=5"));
	}
	assert_int_equal(said, 1);
	counts.calls.is_late = true;
	for (unsigned i = 0; i < CTX_TRACE_TEXTS; i++) {
		if (ctx_trace_text(&counts, &trace, i, text))
			assert_non_null(strstr(text, "are patched only when a program starts"));
	}
	counts.calls.events = 5;
	counts.calls.patched = 3;
	for (unsigned i = 0, n = 0; i < CTX_TRACE_TEXTS; i++) {
		if (!ctx_trace_text(&counts, &trace, i, text))
			continue;
		assert_int_equal(n++, 0);
		assert_non_null(strstr(text, "3 functions were patched"));
	}
}

static void test_trace_calls__a_choice_among_functions_that_are_not_patched_is_said(void **state)
{
	struct ctx_trace_counts counts = {.processes = 1, .calls.events = 4};
	struct ctx_rec_trace trace = {.calls = true, .calls_of = "f.*"};
	char text[CTX_TRACE_TEXT_MAX];
	unsigned said = 0;

	(void)state;
	for (unsigned i = 0; i < CTX_TRACE_TEXTS; i++) {
		if (!ctx_trace_text(&counts, &trace, i, text))
			continue;
		said++;
		assert_non_null(strstr(text, "--calls-of has chosen nothing"));
	}
	assert_int_equal(said, 1);
	counts.calls.patched = 1;
	for (unsigned i = 0; i < CTX_TRACE_TEXTS; i++)
		assert_true(!ctx_trace_text(&counts, &trace, i, text) || strstr(text, "--calls-of") == NULL);
	counts.calls.patched = 0;
	trace.calls_of = NULL;
	for (unsigned i = 0; i < CTX_TRACE_TEXTS; i++)
		assert_false(ctx_trace_text(&counts, &trace, i, text));
}

/* The target's memory may be anything: a time before the recording is its begin. */
static void test_trace_calls__a_time_before_the_begin_is_the_begin(void **state)
{
	const struct ctx_rec_trace trace = {.calls = true, .calls_sums = true};
	struct ctx_trace_counts counts = {.start_ns = 2000000000, .calls.unwritten = {1, 5}};
	char text[CTX_TRACE_TEXT_MAX];

	(void)state;
	assert_true(ctx_trace_text(&counts, &trace, 13, text));
	assert_non_null(strstr(text, " from 0.000000 s on "));
	counts.calls.unwritten.first_ns = 3500000000;
	assert_true(ctx_trace_text(&counts, &trace, 13, text));
	assert_non_null(strstr(text, " from 1.500000 s on "));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_calls__words_are_begins_and_ends),
		cmocka_unit_test(test_trace_calls__a_choice_among_functions_that_are_not_patched_is_said),
		cmocka_unit_test(test_trace_calls__sums_are_a_walk_through_the_tree),
		cmocka_unit_test(test_trace_calls__a_period_may_be_longer_than_its_calls),
		cmocka_unit_test(test_trace_calls__sums_of_any_words_make_sense),
		cmocka_unit_test(test_trace_calls__a_time_before_the_begin_is_the_begin),
		cmocka_unit_test(test_trace_calls__where_words_are_missing_calls_end),
		cmocka_unit_test(test_trace_calls__what_a_thread_could_not_write_before_its_end_is_missing),
		cmocka_unit_test(test_trace_calls__counters_are_of_the_innermost_call),
		cmocka_unit_test(test_trace_calls__what_makes_no_sense_is_counted),
		cmocka_unit_test(test_trace_calls__any_words_give_events_that_fit),
		cmocka_unit_test(test_trace_calls__between_two_pairs_time_goes_evenly),
		cmocka_unit_test(test_trace_calls__nops_are_counted_whole),
		cmocka_unit_test(test_trace_calls__a_program_without_hooks_is_told_how_to_get_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
