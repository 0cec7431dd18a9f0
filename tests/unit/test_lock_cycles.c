/* Locks taken in inverse orders: cycles of known graphs, and of random ones against trying everything. */
#include "chance.h"
#include "model/lock_cycles.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static size_t count(const struct ctx_lock_order *orders, size_t n, uint32_t n_locks, uint32_t *ret_longest)
{
	struct ctx_lock_cycles cycles;
	size_t found;

	assert_int_equal(ctx_lock_cycles_find(orders, n, n_locks, &cycles, NULL), CTX_OK);
	*ret_longest = 0;
	for (size_t i = 0; i < cycles.n; i++) {
		const struct ctx_lock_cycle *cycle = &cycles.items[i];

		assert_in_range(cycle->n, 2, CTX_LOCK_CYCLE_MAX);
		for (uint32_t j = 0; j < cycle->n; j++) {
			const struct ctx_lock_order *order = &orders[cycle->orders[j]];
			const struct ctx_lock_order *next = &orders[cycle->orders[(j + 1) % cycle->n]];

			assert_int_equal(order->taken, next->held);
			assert_false(order->taken_read && next->held_read);
			for (uint32_t k = 0; k < j; k++)
				assert_int_not_equal(orders[cycle->orders[k]].thread, order->thread);
		}
		*ret_longest = cycle->n > *ret_longest ? cycle->n : *ret_longest;
	}
	found = cycles.n;
	ctx_lock_cycles_deinit(&cycles);
	return found;
}

static void test_lock_cycles__two_threads_in_inverse_orders_are_one_cycle(void **state)
{
	struct ctx_lock_order orders[] = {{.held = 0, .taken = 1, .thread = 7},
					  {.held = 1, .taken = 0, .thread = 7},
					  {.held = 1, .taken = 0, .thread = 8},
					  {.held = 1, .taken = 2, .thread = 9}};
	uint32_t longest;

	(void)state;
	assert_int_equal(count(orders, 4, 3, &longest), 1);
	assert_int_equal(longest, 2);
	/* One thread does not wait for itself. */
	orders[2].thread = 7;
	assert_int_equal(count(orders, 4, 3, &longest), 0);
	assert_int_equal(count(orders, 0, 0, &longest), 0);
}

static void test_lock_cycles__readers_do_not_wait_for_each_other(void **state)
{
	struct ctx_lock_order orders[] = {
		{.held = 0, .taken = 1, .thread = 1, .held_read = true, .taken_read = true},
		{.held = 1, .taken = 0, .thread = 2, .held_read = true, .taken_read = true}};
	uint32_t longest;

	(void)state;
	assert_int_equal(count(orders, 2, 2, &longest), 0);
	orders[0].taken_read = false;
	assert_int_equal(count(orders, 2, 2, &longest), 0);
	orders[0].held_read = false;
	assert_int_equal(count(orders, 2, 2, &longest), 1);
}

static void test_lock_cycles__a_ring_of_locks_is_found_up_to_its_limit(void **state)
{
	struct ctx_lock_order orders[CTX_LOCK_CYCLE_MAX + 1];
	uint32_t longest;

	(void)state;
	for (uint32_t n = 2; n <= CTX_LOCK_CYCLE_MAX + 1; n++) {
		for (uint32_t i = 0; i < n; i++)
			orders[i] = (struct ctx_lock_order){.held = i, .taken = (i + 1) % n, .thread = i};
		assert_int_equal(count(orders, n, n, &longest), n <= CTX_LOCK_CYCLE_MAX);
		assert_int_equal(longest, n <= CTX_LOCK_CYCLE_MAX ? n : 0);
	}
}

/* Pairs of locks that two different threads take in both orders. */
static size_t count_slowly(const struct ctx_lock_order *orders, size_t n, uint32_t n_locks)
{
	size_t found = 0;

	for (uint32_t a = 0; a < n_locks; a++) {
		for (uint32_t b = a + 1; b < n_locks; b++) {
			bool is_cycle = false;

			for (size_t i = 0; i < n; i++) {
				for (size_t j = 0; j < n; j++) {
					const struct ctx_lock_order *x = &orders[i], *y = &orders[j];

					is_cycle |= x->held == a && x->taken == b && y->held == b &&
						    y->taken == a && x->thread != y->thread &&
						    !(x->taken_read && y->held_read) &&
						    !(y->taken_read && x->held_read);
				}
			}
			found += is_cycle;
		}
	}
	return found;
}

static void test_lock_cycles__all_pairs_in_both_orders_are_found(void **state)
{
	struct ctx_lock_order orders[60];

	(void)state;
	for (uint64_t seed = 1; seed < 400; seed++) {
		uint64_t random = seed;
		uint32_t n_locks = 2 + (uint32_t)random_below(&random, 9);
		size_t n = 1 + random_below(&random, 60), found = 0;
		struct ctx_lock_cycles cycles;

		for (size_t i = 0; i < n; i++) {
			uint32_t held = (uint32_t)random_below(&random, n_locks);

			orders[i] = (struct ctx_lock_order){
				.held = held,
				.taken = (held + 1 + (uint32_t)random_below(&random, n_locks - 1)) % n_locks,
				.thread = (uint32_t)random_below(&random, 3),
				.held_read = random_below(&random, 4) == 0,
				.taken_read = random_below(&random, 4) == 0};
		}
		assert_int_equal(ctx_lock_cycles_find(orders, n, n_locks, &cycles, NULL), CTX_OK);
		while (found < cycles.n && cycles.items[found].n == 2)
			found++;
		assert_int_equal(found, count_slowly(orders, n, n_locks));
		ctx_lock_cycles_deinit(&cycles);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lock_cycles__two_threads_in_inverse_orders_are_one_cycle),
		cmocka_unit_test(test_lock_cycles__readers_do_not_wait_for_each_other),
		cmocka_unit_test(test_lock_cycles__a_ring_of_locks_is_found_up_to_its_limit),
		cmocka_unit_test(test_lock_cycles__all_pairs_in_both_orders_are_found),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
