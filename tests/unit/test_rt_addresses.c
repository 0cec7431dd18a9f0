/*
 * The runtime's set of addresses, against the obvious one; and used by threads at the same time.
 */
#include "chance.h"
#include "runtime/rt_addresses.h"

#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define PLACES 20000u
#define THREADS 4u

static struct ctx_rt_addresses set;

static uint64_t address_of(uint64_t place)
{
	return 0x7f0000000000 + place * 16;
}

static void test_rt_addresses__are_there_until_they_are_taken(void **state)
{
	bool *there = calloc(PLACES, sizeof(*there));

	(void)state;
	for (unsigned round = 0; round < 400000; round++) {
		uint64_t place = below(PLACES);

		assert_true(!there[place] || ctx_rt_addresses_may_have(&set, address_of(place)));
		if (there[place] || below(4) == 0) {
			assert_int_equal(ctx_rt_addresses_take(&set, address_of(place)), there[place]);
			there[place] = false;
		} else {
			assert_true(ctx_rt_addresses_add(&set, address_of(place)));
			there[place] = true;
		}
	}
	for (unsigned i = 0; i < PLACES; i++)
		assert_int_equal(ctx_rt_addresses_take(&set, address_of(i)), there[i]);
	/* An empty set says so. */
	for (unsigned i = 0; i < PLACES; i++)
		assert_false(ctx_rt_addresses_may_have(&set, address_of(i)) &&
			     ctx_rt_addresses_take(&set, address_of(i)));
	free(there);
}

static void *use(void *number)
{
	uint64_t own = (uint64_t)(uintptr_t)number << 32;

	for (unsigned round = 0; round < 20; round++) {
		for (uint64_t i = 0; i < 2000; i++)
			assert_true(ctx_rt_addresses_add(&set, address_of(own + i)));
		for (uint64_t i = 0; i < 2000; i++)
			assert_true(ctx_rt_addresses_take(&set, address_of(own + i)));
	}
	return NULL;
}

static void test_rt_addresses__of_threads_do_not_disturb_each_other(void **state)
{
	pthread_t threads[THREADS];

	(void)state;
	for (uintptr_t i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, use, (void *)i), 0);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (unsigned i = 0; i < CTX_RT_TABLES; i++) {
		const _Atomic uint64_t *table = set.tables[i];

		for (unsigned k = 0; table != NULL && k < 4096u << i; k++)
			assert_int_equal(table[k], 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rt_addresses__are_there_until_they_are_taken),
		cmocka_unit_test(test_rt_addresses__of_threads_do_not_disturb_each_other),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
