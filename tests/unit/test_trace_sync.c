/* Locks: what a thread holds and has taken while it held others; what the recorder makes of the records. */
#include "chance.h"
#include "collect/trace_sync.h"
#include "runtime/rt_held.h"

#include "base/mem.h"
#include "model/traced.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

static void test_rt_held__locks_are_released_in_any_order(void **state)
{
	struct ctx_rt_locks *locks = calloc(1, sizeof(*locks));
	uint64_t seed = 5, list[CTX_RT_HELD_MAX], number = 0;
	uint32_t n = 0;

	(void)state;
	assert_non_null(locks);
	for (int step = 0; step < 20000; step++) {
		uint64_t object = 1 + random_below(&seed, 12);
		uint32_t at = n;

		if (random_below(&seed, 2) == 0) {
			struct ctx_rt_held held = {.object = object, .since_ns = ++number};

			ctx_rt_locks_push(locks, &held);
			if (n < CTX_RT_HELD_MAX)
				list[n++] = object;
		} else {
			while (at > 0 && list[at - 1] != object)
				at--;
			assert_int_equal(ctx_rt_locks_find(locks, object),
					 at != 0 ? at - 1 : CTX_RT_HELD_MAX);
			if (at == 0)
				continue;
			ctx_rt_locks_remove(locks, at - 1);
			for (; at < n; at++)
				list[at - 1] = list[at];
			n--;
		}
		assert_int_equal(locks->n, n);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(locks->held[i].object, list[i]);
		for (uint32_t i = n; i < CTX_RT_HELD_MAX; i++)
			assert_int_equal(locks->held[i].object, 0);
	}
	free(locks);
}

static void test_rt_held__a_pair_is_new_once(void **state)
{
	struct ctx_rt_locks *locks = calloc(1, sizeof(*locks));
	uint32_t n = 0;

	(void)state;
	assert_non_null(locks);
	for (int round = 0; round < 2; round++) {
		for (uint64_t a = 0; a < 50; a++) {
			for (uint64_t b = 0; b < 50; b++) {
				uint64_t hash, *place = ctx_rt_locks_pair(locks, 0x7f0000001000 + a * 40,
									  0x7f0000001000 + b * 40, &hash);

				assert_int_not_equal(hash, 0);
				assert_int_equal(*place != 0, round != 0);
				*place = hash;
				n += round == 0;
			}
		}
	}
	assert_int_equal(n, 2500);
	locks->n_pairs = n;
	ctx_rt_locks_clear(locks);
	for (uint32_t i = 0; i < CTX_RT_PAIRS; i++)
		assert_int_equal(locks->pairs[i], 0);
	free(locks);
}

static struct ctx_trace_sync read_record(enum ctx_rt_kind kind, const uint64_t words[CTX_RT_ARGUMENTS_MAX])
{
	const struct ctx_exp_sync who = {.process = 3, .thread = 4};
	struct ctx_trace_record record = {.kind = kind, .n_frames = 2};
	struct ctx_trace_sync sync;

	for (unsigned i = 0; i < CTX_RT_ARGUMENTS_MAX; i++)
		record.words[i] = words[i];
	ctx_trace_sync_read(&record, &who, NULL, &sync);
	if (sync.n != 0) {
		assert_int_equal(sync.operations[0].process, 3);
		assert_int_equal(sync.operations[0].thread, 4);
		assert_int_equal(sync.operations[0].other, CTX_NONE);
		assert_int_equal(sync.operations[0].n_frames, 2);
	}
	return sync;
}

static void test_trace_sync__records_become_operations(void **state)
{
	const struct ctx_rt_wait what = {.operation = CTX_SYNC_BARRIER, .failed = true};
	struct ctx_trace_sync sync = read_record(
		CTX_RT_WAIT,
		(const uint64_t[CTX_RT_ARGUMENTS_MAX]){900, 100, 0x10, ctx_rt_pack_wait(what), 0x5555});

	(void)state;
	assert_int_equal(sync.n, 1);
	assert_int_equal(sync.operations[0].operation, CTX_SYNC_BARRIER);
	assert_true(sync.operations[0].failed);
	assert_int_equal(sync.operations[0].time_ns, 900);
	assert_int_equal(sync.operations[0].duration_ns, 100);
	assert_int_equal(sync.operations[0].object, 0x10);
	sync = read_record(CTX_RT_HOLD,
			   (const uint64_t[CTX_RT_ARGUMENTS_MAX]){900, 100, 0x10, CTX_SYNC_SPIN});
	assert_int_equal(sync.n, 1);
	assert_int_equal(sync.operations[0].operation, CTX_SYNC_HOLD);
	assert_int_equal(sync.operations[0].detail, CTX_SYNC_SPIN);
	sync = read_record(CTX_RT_ORDER, (const uint64_t[CTX_RT_ARGUMENTS_MAX]){900, 0x20, 0x10, 3});
	assert_int_equal(sync.n, 1);
	assert_int_equal(sync.operations[0].operation, CTX_SYNC_ORDER);
	assert_int_equal(sync.operations[0].held, 0x20);
	assert_int_equal(sync.operations[0].object, 0x10);
	assert_int_equal(sync.operations[0].detail, 3);
}

/* The target writes anything. */
static void test_trace_sync__what_makes_no_sense_is_no_operation(void **state)
{
	const uint64_t wrong[][CTX_RT_ARGUMENTS_MAX] = {
		{900, 901, 0x10, CTX_SYNC_MUTEX}, {900, 100, 0x10, CTX_SYNC_HOLD}, {900, 100, 0x10, 255}};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		assert_int_equal(read_record(CTX_RT_WAIT, wrong[i]).n, 0);
		assert_int_equal(read_record(CTX_RT_HOLD, wrong[i]).n, 0);
	}
	assert_int_equal(read_record(CTX_RT_HOLD,
				     (const uint64_t[CTX_RT_ARGUMENTS_MAX]){UINT64_MAX, UINT64_MAX / 2, 1, 1})
				 .n,
			 0);
	for (unsigned kind = 0; kind < CTX_RT_KIND_N; kind++)
		assert_int_equal(ctx_trace_sync_is((enum ctx_rt_kind)kind), kind >= 16 && kind < 32);
	/* A threshold is whole microseconds. */
	assert_int_equal(ctx_trace_sync_calibrate() % 1000, 0);
	assert_int_not_equal(ctx_trace_sync_calibrate(), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rt_held__locks_are_released_in_any_order),
		cmocka_unit_test(test_rt_held__a_pair_is_new_once),
		cmocka_unit_test(test_trace_sync__records_become_operations),
		cmocka_unit_test(test_trace_sync__what_makes_no_sense_is_no_operation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
