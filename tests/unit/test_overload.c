/*
 * What the recorder decides under load: its priority, whether it unwinds, sizes of rings and copies, and when they change.
 */
#include "collect/pressure.h"
#include "collect/priority.h"
#include "collect/session_sizes.h"

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

static void test_pressure__is_crowded_by_64_threads_for_each_cpu(void **state)
{
	(void)state;
	assert_false(ctx_pressure_is_crowded(128, 2));
	assert_true(ctx_pressure_is_crowded(129, 2));
	assert_false(ctx_pressure_is_crowded(129, 64));
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

/* On two CPUs, at 999 Hz with stacks. */
static struct ctx_session_load usual_load(void)
{
	return (struct ctx_session_load){
		.stack_bytes = 32768, .lockable = SIZE_MAX, .n_cpus = 2, .hz = 999, .has_states = true};
}

static void test_sizes__usual_recordings_keep_theirs(void **state)
{
	struct ctx_session_load load = usual_load();
	struct ctx_session_sizes sizes = ctx_session_sizes_choose(&load);

	(void)state;
	assert_int_equal(sizes.ring_bytes, 16 << 20);
	assert_int_equal(sizes.stack_bytes, 32768);
	load.n_cpus = 64;
	assert_int_equal(ctx_session_sizes_choose(&load).ring_bytes, 2 << 20);
	load.stack_bytes = 0;
	assert_int_equal(ctx_session_sizes_choose(&load).ring_bytes, 512 << 10);
	load.n_cpus = 2;
	assert_int_equal(ctx_session_sizes_choose(&load).ring_bytes, 4 << 20);
	load.has_states = false;
	sizes = ctx_session_sizes_choose(&load);
	assert_int_equal(sizes.ring_bytes, 1 << 20);
	assert_int_equal(sizes.copy_bytes[CTX_COPY_USUAL], 0);
	assert_int_equal(sizes.copy_bytes[CTX_COPY_SMALL], 0);
}

static void test_sizes__a_ring_holds_two_rounds_where_memory_allows(void **state)
{
	struct ctx_session_load load = usual_load();

	(void)state;
	for (load.hz = 99; load.hz < 9000; load.hz += 99)
		assert_true((double)ctx_session_sizes_choose(&load).ring_bytes >=
			    load.hz * 0.2 * (32768 + 1024));
	/* Not beyond 128 MiB in all, nor what may be locked, nor what was asked. */
	load.hz = 99999;
	assert_int_equal(ctx_session_sizes_choose(&load).ring_bytes, 64 << 20);
	load.n_cpus = 8;
	assert_int_equal(ctx_session_sizes_choose(&load).ring_bytes, 16 << 20);
	load.lockable = (4 << 20) + 4096;
	assert_int_equal(ctx_session_sizes_choose(&load).ring_bytes, 4 << 20);
	load.ring_bytes = 3 << 20;
	assert_int_equal(ctx_session_sizes_choose(&load).ring_bytes, 4 << 20);
	load.ring_bytes = 100000;
	assert_int_equal(ctx_session_sizes_choose(&load).ring_bytes, 128 << 10);
	assert_int_equal(ctx_session_sizes_choose(&load).stack_bytes, 4096);
}

static void test_sizes__a_ring_holds_4096_records_of_a_burst(void **state)
{
	struct ctx_session_load load = usual_load();
	struct ctx_session_sizes sizes;

	(void)state;
	load.has_bursts = true;
	for (load.n_cpus = 1; load.n_cpus <= 16; load.n_cpus++) {
		sizes = ctx_session_sizes_choose(&load);
		assert_true(4096 * (sizes.burst_bytes + 1024) <= sizes.ring_bytes);
		assert_true(sizes.burst_bytes >= 2048 && sizes.burst_bytes % 8 == 0);
	}
	load.stack_is_fixed = true;
	assert_int_equal(ctx_session_sizes_choose(&load).burst_bytes, 32768);
}

static void test_sizes__copies_follow_ring_and_rate(void **state)
{
	struct ctx_session_load load = usual_load();
	struct ctx_session_sizes sizes = ctx_session_sizes_choose(&load);

	(void)state;
	assert_int_equal(sizes.copy_bytes[CTX_COPY_USUAL], 32768);
	assert_int_equal(sizes.copy_bytes[CTX_COPY_LARGE], 65528);
	/* Two seconds of small ones fit into a ring. */
	assert_true((double)sizes.ring_bytes >=
		    2 * load.hz * (double)(sizes.copy_bytes[CTX_COPY_SMALL] + 1024));
	load.lockable = 4 << 20;
	sizes = ctx_session_sizes_choose(&load);
	assert_int_equal(sizes.copy_bytes[CTX_COPY_SMALL], 2048);
	assert_int_equal(sizes.copy_bytes[CTX_COPY_LARGE], 0);
	/* --stack-size means it; counts have no second copy. */
	load = usual_load();
	load.stack_is_fixed = true;
	assert_int_equal(ctx_session_sizes_choose(&load).copy_bytes[CTX_COPY_SMALL], 0);
	assert_int_equal(ctx_session_sizes_choose(&load).copy_bytes[CTX_COPY_LARGE], 0);
	load = usual_load();
	load.hz = 0;
	assert_int_equal(ctx_session_sizes_choose(&load).copy_bytes[CTX_COPY_SMALL], 0);
}

static void test_sizes__load_is_what_events_ask(void **state)
{
	struct ctx_perf_event items[] = {{.is_clock = true, .period = 1000000},
					 {.frequency_hz = 500, .has_period = true},
					 {.period = 100}};
	struct ctx_perf_events events = {.items = items, .n = 3};
	struct ctx_session_load load = {0};

	(void)state;
	ctx_session_load_events(&load, &events);
	assert_true(load.hz > 1499 && load.hz < 1501);
	assert_false(load.has_bursts);
	items[2].period = 1;
	ctx_session_load_events(&load, &events);
	assert_true(load.has_bursts);
	assert_false(ctx_perf_event_bursts(&items[0]));
	assert_false(ctx_perf_event_bursts(&items[1]));
}

#define SECOND UINT64_C(1000000000)

/* Rounds of 0.1 s with so many stacks, of which some are cut; the number of changes. */
struct story {
	struct ctx_copy_choice choice;
	struct ctx_pressure pressure;
	unsigned n_changes;
};

static struct story begin_story(void)
{
	return (struct story){.choice = {.copy_bytes = {4096, 32768, 65528}, .now = CTX_COPY_USUAL},
			      .pressure = {.now_ns = SECOND, .events = 2}};
}

static enum ctx_copy go_on(struct story *story, double seconds, uint64_t cut_of_100)
{
	for (double t = 0; t < seconds; t += 0.1) {
		story->pressure.now_ns += SECOND / 10;
		story->pressure.stacks += 100;
		story->pressure.cut += cut_of_100;
		story->n_changes += ctx_copy_choose(&story->choice, &story->pressure);
	}
	return story->choice.now;
}

static enum ctx_copy press_once(struct story *story)
{
	story->pressure.fullest_percent = 60;
	go_on(story, 0.1, 0);
	story->pressure.fullest_percent = 0;
	return story->choice.now;
}

static void test_copies__stay_as_they_are_in_a_usual_recording(void **state)
{
	struct story story = begin_story();

	(void)state;
	assert_int_equal(go_on(&story, 600, 0), CTX_COPY_USUAL);
	assert_int_equal(story.n_changes, 0);
}

static void test_copies__are_small_under_pressure_until_stacks_are_cut_without_it(void **state)
{
	struct story story = begin_story();

	(void)state;
	go_on(&story, 1, 0);
	assert_int_equal(press_once(&story), CTX_COPY_SMALL);
	/* Nothing is cut: nothing is gained by larger ones. */
	assert_int_equal(go_on(&story, 60, 0), CTX_COPY_SMALL);
	assert_int_equal(go_on(&story, 2, 10), CTX_COPY_USUAL);
	/* Pressed again soon after: twice as long, and so on. */
	assert_int_equal(press_once(&story), CTX_COPY_SMALL);
	assert_int_equal(go_on(&story, 3.5, 10), CTX_COPY_SMALL);
	assert_int_equal(go_on(&story, 1.5, 10), CTX_COPY_USUAL);
	assert_int_equal(press_once(&story), CTX_COPY_SMALL);
	assert_int_equal(go_on(&story, 7, 10), CTX_COPY_SMALL);
	assert_int_equal(go_on(&story, 2, 10), CTX_COPY_USUAL);
}

static void test_copies__grow_when_stacks_are_cut_if_that_helps(void **state)
{
	struct story story = begin_story();

	(void)state;
	assert_int_equal(go_on(&story, 0.7, 5), CTX_COPY_LARGE);
	assert_int_equal(go_on(&story, 60, 0), CTX_COPY_LARGE);
	assert_int_equal(story.n_changes, 1);
	/* They stay once they were seen to help, and are not for 1 stack in 50. */
	assert_int_equal(go_on(&story, 60, 9), CTX_COPY_LARGE);
	story = begin_story();
	assert_int_equal(go_on(&story, 60, 1), CTX_COPY_USUAL);
	/* It does not help: back for ever. */
	story = begin_story();
	assert_int_equal(go_on(&story, 0.7, 5), CTX_COPY_LARGE);
	assert_int_equal(go_on(&story, 60, 5), CTX_COPY_USUAL);
	assert_int_equal(story.n_changes, 2);
	/* Large ones press. */
	story = begin_story();
	assert_int_equal(go_on(&story, 0.7, 5), CTX_COPY_LARGE);
	assert_int_equal(press_once(&story), CTX_COPY_SMALL);
}

/* The same, with trials as far as they are wanted: of 100 stacks so many are deep, and so many of these fail. */
static enum ctx_copy try_on(struct story *story, double seconds, uint64_t deep, uint64_t failed)
{
	for (double t = 0; t < seconds; t += 0.1) {
		if (story->choice.tries) {
			story->pressure.tried += 100;
			story->pressure.deep += deep;
			story->pressure.failed += failed;
		}
		go_on(story, 0.05, 0);
	}
	return story->choice.now;
}

static void test_copies__are_small_where_frame_pointers_complete_the_stacks(void **state)
{
	struct story story = begin_story();

	(void)state;
	assert_int_equal(try_on(&story, 1.5, 50, 0), CTX_COPY_SMALL);
	assert_true(story.choice.is_chained && !story.choice.tries);
	assert_int_equal(try_on(&story, 60, 0, 0), CTX_COPY_SMALL);
	assert_int_equal(story.n_changes, 1);
	/* One in 100 is cut: usual ones, and no trial for 2 s; later for 4 s. */
	assert_int_equal(go_on(&story, 0.9, 1), CTX_COPY_USUAL);
	assert_false(story.choice.is_chained);
	assert_int_equal(try_on(&story, 1.2, 50, 0), CTX_COPY_USUAL);
	assert_int_equal(try_on(&story, 1.5, 50, 0), CTX_COPY_SMALL);
	assert_int_equal(go_on(&story, 0.9, 1), CTX_COPY_USUAL);
	assert_int_equal(try_on(&story, 3, 50, 0), CTX_COPY_USUAL);
	assert_int_equal(try_on(&story, 1.5, 50, 0), CTX_COPY_SMALL);
	assert_int_equal(story.n_changes, 5);
	/* Under pressure they stay small. */
	assert_int_equal(press_once(&story), CTX_COPY_SMALL);
	assert_int_equal(go_on(&story, 1, 1), CTX_COPY_SMALL);
}

static void test_copies__stay_where_frame_pointers_do_not(void **state)
{
	struct story story = begin_story();
	unsigned n_trials = 0;
	bool tried = false;

	(void)state;
	/* Tried seldom, and given up at once. */
	for (int i = 0; i < 6000; i++) {
		(void)try_on(&story, 0.1, 50, 2);
		n_trials += story.choice.tries && !tried;
		tried = story.choice.tries;
	}
	assert_true(n_trials >= 5 && n_trials < 15);
	assert_int_equal(story.n_changes, 0);
	/* All copies are short: nothing is gained. */
	story = begin_story();
	assert_int_equal(try_on(&story, 60, 9, 0), CTX_COPY_USUAL);
	assert_int_equal(try_on(&story, 1, 15, 0), CTX_COPY_SMALL);
	/* There are none. */
	story = begin_story();
	story.choice.copy_bytes[CTX_COPY_SMALL] = 0;
	assert_int_equal(try_on(&story, 10, 50, 0), CTX_COPY_USUAL);
	assert_false(story.choice.tries);
	/* With 1,000 threads a change waits. */
	story = begin_story();
	story.pressure.events = 2000;
	assert_int_equal(try_on(&story, 2.3, 50, 0), CTX_COPY_USUAL);
	assert_int_equal(try_on(&story, 1.5, 50, 0), CTX_COPY_SMALL);
}

static void test_copies__change_seldom_where_that_is_expensive(void **state)
{
	struct story story = begin_story();

	(void)state;
	/* 48 ms: after 2.4 s at the earliest, or when records are lost. */
	story.pressure.events = 2000;
	assert_int_equal(go_on(&story, 2.3, 5), CTX_COPY_USUAL);
	assert_int_equal(go_on(&story, 1, 5), CTX_COPY_LARGE);
	assert_int_equal(press_once(&story), CTX_COPY_LARGE);
	story.pressure.lost++;
	assert_int_equal(press_once(&story), CTX_COPY_SMALL);
}

static void test_copies__have_no_size_that_could_not_be_opened(void **state)
{
	struct story story = begin_story();

	(void)state;
	story.choice.copy_bytes[CTX_COPY_SMALL] = story.choice.copy_bytes[CTX_COPY_LARGE] = 0;
	assert_int_equal(go_on(&story, 5, 50), CTX_COPY_USUAL);
	assert_int_equal(press_once(&story), CTX_COPY_USUAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pressure__is_late_when_it_waited_too_long_or_found_much),
		cmocka_unit_test(test_pressure__is_crowded_by_64_threads_for_each_cpu),
		cmocka_unit_test(test_pressure__skips_unwinding_only_while_rings_become_fuller),
		cmocka_unit_test(test_priority__is_described_in_one_line),
		cmocka_unit_test(test_priority__is_the_callers_again_at_the_end),
		cmocka_unit_test(test_priority__stays_as_it_is_when_asked),
		cmocka_unit_test(test_sizes__usual_recordings_keep_theirs),
		cmocka_unit_test(test_sizes__a_ring_holds_two_rounds_where_memory_allows),
		cmocka_unit_test(test_sizes__a_ring_holds_4096_records_of_a_burst),
		cmocka_unit_test(test_sizes__copies_follow_ring_and_rate),
		cmocka_unit_test(test_copies__stay_as_they_are_in_a_usual_recording),
		cmocka_unit_test(test_copies__are_small_under_pressure_until_stacks_are_cut_without_it),
		cmocka_unit_test(test_copies__grow_when_stacks_are_cut_if_that_helps),
		cmocka_unit_test(test_copies__are_small_where_frame_pointers_complete_the_stacks),
		cmocka_unit_test(test_copies__stay_where_frame_pointers_do_not),
		cmocka_unit_test(test_copies__change_seldom_where_that_is_expensive),
		cmocka_unit_test(test_copies__have_no_size_that_could_not_be_opened),
		cmocka_unit_test(test_sizes__load_is_what_events_ask),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
