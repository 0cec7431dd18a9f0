/* The window of a live ingest, against a list of everything: ingest/window.h. */
#include "ingest/window.h"

#include "base/mem.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define ALL 20000u

static void test_window__it_has_what_ended_since_its_begin(void **state)
{
	struct ctx_sample *all = calloc(ALL, sizeof(*all));
	struct ctx_window window = {0};
	uint64_t time_ns = 0, begin_ns = 0;
	size_t first = 0, most = 0;

	(void)state;
	assert_non_null(all);
	for (size_t n = 0; n < ALL; n++) {
		struct ctx_wakeup wakeup = {.time_ns = time_ns += below(5), .thread = (uint32_t)n};
		struct ctx_traced traced = {.time_ns = time_ns, .thread = (uint32_t)n};

		all[n] = (struct ctx_sample){.time_ns = time_ns, .thread = (uint32_t)n};
		assert_int_equal(ctx_window_add(&window, &all[n], NULL), CTX_OK);
		assert_int_equal(ctx_window_add_wakeup(&window, &wakeup, NULL), CTX_OK);
		assert_int_equal(ctx_window_add_traced(&window, &traced, NULL), CTX_OK);
		if (below(20) == 0 && time_ns > 300) {
			begin_ns = time_ns - 300 + below(100);
			assert_int_equal(ctx_window_move(&window, begin_ns, NULL), CTX_OK);
			assert_int_equal(ctx_window_move(&window, begin_ns / 2, NULL),
					 CTX_OK); /* never backwards */
			while (all[first].time_ns < begin_ns)
				first++;
		}
		most = window.n_samples > most ? window.n_samples : most;
		assert_int_equal(window.n_samples - window.first_sample, n + 1 - first);
		assert_int_equal(window.n_wakeups - window.first_wakeup, n + 1 - first);
		assert_int_equal(window.n_traced - window.first_traced, n + 1 - first);
		for (size_t i = first; i <= n; i += 1 + below(50)) {
			assert_int_equal(window.samples[window.first_sample + i - first].thread, i);
			assert_int_equal(window.wakeups[window.first_wakeup + i - first].thread, i);
			assert_int_equal(window.traced[window.first_traced + i - first].thread, i);
		}
	}
	/* Some 200 are in it: its memory does not grow with their number. */
	assert_true(most < 1000);
	/* What ended before comes too late. */
	all[0].time_ns = begin_ns - 1;
	first = window.n_samples;
	assert_int_equal(ctx_window_add(&window, &all[0], NULL), CTX_OK);
	assert_int_equal(window.n_samples, first);
	ctx_window_deinit(&window);
	free(all);
}

static void test_window__of_too_many_operations_the_last_ones_are_kept(void **state)
{
	const size_t more = 1000;
	struct ctx_window window = {0};

	(void)state;
	for (size_t n = 0; n < CTX_WINDOW_TRACED_MAX + more; n++) {
		struct ctx_traced traced = {.time_ns = n};

		assert_int_equal(ctx_window_add_traced(&window, &traced, NULL), CTX_OK);
	}
	assert_int_equal(window.n_dropped, more);
	assert_int_equal(window.n_traced - window.first_traced, CTX_WINDOW_TRACED_MAX);
	assert_int_equal(window.traced[window.first_traced].time_ns, more);
	assert_int_equal(ctx_window_move(&window, 2 * more, NULL), CTX_OK);
	assert_int_equal(window.n_dropped, 0);
	assert_int_equal(window.traced[window.first_traced].time_ns, 2 * more);
	ctx_window_deinit(&window);
}

static struct ctx_traced mark(uint64_t time_ns, unsigned operation, uint32_t name, uint64_t duration_ns)
{
	return (struct ctx_traced){.kind = CTX_TRACED_MARK,
				   .operation = (uint8_t)operation,
				   .time_ns = time_ns,
				   .duration_ns = duration_ns,
				   .file = name};
}

static void test_window__begins_are_kept_until_their_interval_ends(void **state)
{
	const struct ctx_traced marks[] = {
		mark(10, CTX_MARK_BEGIN, 1, 0),	   mark(20, CTX_MARK_BEGIN, 2, 0),
		mark(20, CTX_MARK_PAUSE, 2, 0),	   mark(30, CTX_MARK_POINT, 3, 0),
		mark(40, CTX_MARK_BEGIN_ID, 1, 0), mark(60, CTX_MARK_END, 2, 40),
		mark(70, CTX_MARK_RESUME, 2, 50),  mark(90, CTX_MARK_END_ID, 1, 50)};
	const struct ctx_traced late = mark(91, CTX_MARK_END, 1, 81);
	struct ctx_window window = {0};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(marks); i++)
		assert_int_equal(ctx_window_add_traced(&window, &marks[i], NULL), CTX_OK);
	assert_int_equal(ctx_window_move(&window, 50, NULL), CTX_OK);
	assert_int_equal(window.n_begins, 4); /* all but the point */
	assert_int_equal(ctx_window_move(&window, 65, NULL), CTX_OK);
	assert_int_equal(window.n_begins, 3);
	assert_int_equal(window.begins[1].operation, CTX_MARK_PAUSE);
	assert_int_equal(ctx_window_move(&window, 100, NULL), CTX_OK);
	assert_int_equal(window.n_begins, 1);
	assert_int_equal(window.begins[0].time_ns, 10);
	/* One that comes when its time has passed counts as well. */
	assert_int_equal(ctx_window_add_traced(&window, &late, NULL), CTX_OK);
	assert_int_equal(window.n_begins, 0);
	for (uint64_t i = 0; i < CTX_WINDOW_BEGINS_MAX + 5; i++) {
		struct ctx_traced begin = mark(i % 50, CTX_MARK_BEGIN, (uint32_t)i, 0);

		assert_int_equal(ctx_window_add_traced(&window, &begin, NULL), CTX_OK);
	}
	assert_int_equal(window.n_begins, CTX_WINDOW_BEGINS_MAX);
	assert_int_equal(window.begins[0].file, 5);
	ctx_window_deinit(&window);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window__begins_are_kept_until_their_interval_ends),
		cmocka_unit_test(test_window__it_has_what_ended_since_its_begin),
		cmocka_unit_test(test_window__of_too_many_operations_the_last_ones_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
