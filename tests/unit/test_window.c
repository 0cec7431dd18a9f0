/* The window of a live ingest, against a list of everything: ingest/window.h. */
#include "ingest/window.h"

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
			ctx_window_move(&window, begin_ns);
			ctx_window_move(&window, begin_ns / 2); /* never backwards */
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
	ctx_window_move(&window, 2 * more);
	assert_int_equal(window.n_dropped, 0);
	assert_int_equal(window.traced[window.first_traced].time_ns, 2 * more);
	ctx_window_deinit(&window);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_window__it_has_what_ended_since_its_begin),
		cmocka_unit_test(test_window__of_too_many_operations_the_last_ones_are_kept),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
