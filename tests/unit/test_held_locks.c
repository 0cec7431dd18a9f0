/*
 * How long threads held locks, by slice: against a look at each ns.
 */
#include "base/mem.h"
#include "fake_source.h"
#include "report/held_locks.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>

#include <cmocka.h>

#define THREADS 3u
#define SLICES 7u
#define HOLDS 40u
#define RUN_NS 100u

static void test_held_locks__are_those_of_a_look_at_each_ns(void **state)
{
	struct ctx_profile profile = {.run = {0, RUN_NS}};
	struct ctx_report_slice slices[(THREADS + 1) * SLICES];
	struct ctx_traced traced[HOLDS];

	(void)state;
	for (unsigned round = 0; round < 100; round++) {
		struct fake_source fake = {.profile = &profile};
		struct ctx_report_slices all = {slices, CTX_COUNT_OF(slices), SLICES, 0};
		struct ctx_held_locks held;
		uint64_t from = below(20), length = 20 + below(60);

		/* The slices of all threads together, then those of each. */
		for (uint32_t i = 0; i < CTX_COUNT_OF(slices); i++)
			slices[i] = (struct ctx_report_slice){
				.thread = i < SLICES ? CTX_NONE : i / SLICES - 1,
				.interval = {from + length * (i % SLICES) / SLICES,
					     from + length * (i % SLICES + 1) / SLICES}};
		for (unsigned i = 0; i < HOLDS; i++) {
			uint64_t end = below(RUN_NS + 1);

			traced[i] = (struct ctx_traced){.time_ns = end,
							.duration_ns = below(end + 1) / (1 + below(4)),
							.thread = (uint32_t)below(THREADS + 1),
							.kind = CTX_TRACED_SYNC,
							.operation = below(3) == 0 ? CTX_SYNC_MUTEX
										   : CTX_SYNC_HOLD};
		}
		profile.traced[CTX_TRACED_SYNC] = HOLDS;
		fake.traced[CTX_TRACED_SYNC] = (struct ctx_report_traced){traced, HOLDS};
		assert_int_equal(ctx_held_locks_make(fake_open(&fake), &all, HOLDS, &held, NULL), CTX_OK);
		for (size_t i = 0; i < CTX_COUNT_OF(slices); i++) {
			struct ctx_interval slice = slices[i].interval;
			uint64_t wanted = 0;

			for (unsigned k = 0; k < HOLDS; k++) {
				for (uint64_t ns = slice.begin_ns; ns < slice.end_ns; ns++)
					wanted += traced[k].operation == CTX_SYNC_HOLD &&
						  traced[k].thread == slices[i].thread &&
						  traced[k].time_ns - traced[k].duration_ns <= ns &&
						  ns < traced[k].time_ns;
			}
			if (wanted > slice.end_ns - slice.begin_ns)
				wanted = slice.end_ns - slice.begin_ns;
			assert_int_equal(held.ns[i], wanted);
			assert_true(ctx_held_locks_any(&held, i, 1) == (wanted != 0));
		}
		ctx_held_locks_deinit(&held);
		/* Too many, or none. */
		assert_int_equal(ctx_held_locks_make(&fake.source, &all, HOLDS - 1, &held, NULL), CTX_OK);
		assert_null(held.ns);
		assert_false(ctx_held_locks_any(&held, 0, CTX_COUNT_OF(slices)));
		profile.traced[CTX_TRACED_SYNC] = 0;
		assert_int_equal(ctx_held_locks_make(&fake.source, &all, HOLDS, &held, NULL), CTX_OK);
		assert_null(held.ns);
	}
}

static void test_held_locks__a_mark_tells_some_from_more_than_half(void **state)
{
	(void)state;
	assert_int_equal(ctx_held_locks_mark(0, 10), ' ');
	assert_int_equal(ctx_held_locks_mark(1, 10), '-');
	assert_int_equal(ctx_held_locks_mark(5, 10), '-');
	assert_int_equal(ctx_held_locks_mark(6, 10), '=');
	assert_int_equal(ctx_held_locks_mark(1, 1), '=');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_held_locks__are_those_of_a_look_at_each_ns),
		cmocka_unit_test(test_held_locks__a_mark_tells_some_from_more_than_half),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
