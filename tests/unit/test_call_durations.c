/*
 * Durations of calls: counts and percentiles against a sorted list of all of them.
 */
#include "base/mem.h"
#include "report/call_durations.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

#define N 3000u
#define FUNCTIONS 5u

static int ascending(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* The nearest rank, as it is defined. */
static uint64_t rank_of(const uint64_t *sorted, size_t n, unsigned permille)
{
	for (size_t i = 0; i < n; i++) {
		if ((i + 1) * 1000 >= n * permille)
			return sorted[i];
	}
	return sorted[n - 1];
}

static void check(size_t n, uint64_t values)
{
	static const unsigned ranks[] = {0, 1, 500, 900, 990, 999, 1000};
	static uint64_t all[FUNCTIONS][N];
	size_t counts[FUNCTIONS] = {0};
	struct ctx_call_durations durations = {0};

	for (size_t i = 0; i < n; i++) {
		uint32_t function = (uint32_t)below(FUNCTIONS - 1);
		uint64_t ns = below(8) == 0 ? UINT64_MAX - below(3) : below(values);

		all[function][counts[function]++] = ns;
		assert_int_equal(ctx_call_durations_add(&durations, function, ns, 1, NULL), CTX_OK);
	}
	ctx_call_durations_sort(&durations);
	for (uint32_t function = 0; function < FUNCTIONS; function++) {
		struct ctx_call_spread spread = ctx_call_durations_of(&durations, function);

		assert_int_equal(spread.count, counts[function]);
		if (counts[function] == 0) {
			assert_int_equal(spread.n, 0);
			continue;
		}
		qsort(all[function], counts[function], sizeof(uint64_t), ascending);
		for (size_t i = 0; i < CTX_COUNT_OF(ranks); i++)
			assert_int_equal(ctx_call_spread_rank(&spread, ranks[i]),
					 rank_of(all[function], counts[function], ranks[i]));
	}
	ctx_call_durations_deinit(&durations);
}

static void test_call_durations__percentiles_are_those_of_all_durations(void **state)
{
	(void)state;
	for (size_t n = 0; n <= N; n = n < 20 ? n + 1 : n * 2) {
		check(n, 1);
		check(n, 10);
		check(n, 1000000);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_call_durations__percentiles_are_those_of_all_durations),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
