/* The filter of wake-ups: which ids it lets through. */
#include "collect/session_woken.h"

#include "base/mem.h"
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MAX 32768

static struct ctx_woken_filter filter_of(const int64_t *tids, size_t n, int64_t last, int64_t max)
{
	struct ctx_ids ids = {0};
	struct ctx_woken_filter filter;

	for (size_t i = 0; i < n; i++)
		assert_int_equal(ctx_ids_add(&ids, tids[i], NULL), CTX_OK);
	ctx_woken_filter_make(&filter, &ids, last, max);
	ctx_ids_deinit(&ids);
	return filter;
}

/* What the kernel makes of the text; counts its ranges. */
static bool passes(const struct ctx_woken_filter *filter, int64_t id, unsigned *ret_ranges)
{
	const char *at = filter->text;
	int after, begin, end, n = 0;
	bool does;

	*ret_ranges = 0;
	if (*at == '\0')
		return true;
	assert_int_equal(sscanf(at, "pid > %d%n", &after, &n), 1);
	does = id > after;
	for (at += n; *at != '\0'; at += n) {
		n = 0;
		assert_int_equal(sscanf(at, " || (pid >= %d && pid <= %d)%n", &begin, &end, &n), 2);
		assert_true(n > 0);
		does |= id >= begin && id <= end;
		++*ret_ranges;
	}
	return does;
}

static void test_woken_filter__a_command_and_what_is_created_later(void **state)
{
	const int64_t child = 1000;
	struct ctx_woken_filter filter = filter_of(&child, 1, 1002, MAX);
	unsigned n;

	(void)state;
	assert_string_equal(filter.text, "pid > 1002 || (pid >= 1000 && pid <= 1000)");
	assert_true(passes(&filter, 1000, &n));
	assert_false(passes(&filter, 1001, &n));
	assert_true(passes(&filter, 1003, &n));
	/* It has a higher id than all others. */
	filter = filter_of(&child, 1, 999, MAX);
	assert_string_equal(filter.text, "pid > 999");
}

/* Each recorded thread passes, whatever their number; few others do if they lie together. */
static void test_woken_filter__has_room_for_any_number_of_threads(void **state)
{
	uint64_t random = 1;

	(void)state;
	for (size_t n = 1; n <= 2000; n = n * 3 / 2 + 1) {
		int64_t *tids = malloc(n * sizeof(*tids));
		struct ctx_woken_filter filter;
		unsigned ranges = 0;

		assert_non_null(tids);
		for (size_t i = 0; i < n; i++) {
			random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
			tids[i] = 1 + (int64_t)(random >> 33) % INT32_MAX;
		}
		filter = filter_of(tids, n, INT32_MAX - 1, INT64_C(1) << 40);
		assert_true(strlen(filter.text) < sizeof(filter.text) - 1);
		for (size_t i = 0; i < n; i++)
			assert_true(passes(&filter, tids[i], &ranges));
		assert_int_equal(ranges, n < CTX_WOKEN_RANGES ? n : CTX_WOKEN_RANGES);
		free(tids);
	}
}

static void test_woken_filter__what_lies_together_is_one_range(void **state)
{
	/* The widest gaps separate; the one between 100 and 103 is none of them. */
	static const int64_t tids[] = {103,   5000,  100,   5001,  7000, 9000,
				       11000, 13000, 15000, 17000, 101,	 17010};
	struct ctx_woken_filter filter = filter_of(tids, CTX_COUNT_OF(tids), 20000, MAX);
	unsigned n;

	(void)state;
	assert_true(passes(&filter, 102, &n));
	assert_int_equal(n, 8);
	assert_false(passes(&filter, 104, &n));
	assert_false(passes(&filter, 4999, &n));
	assert_true(passes(&filter, 5001, &n));
	assert_false(passes(&filter, 6000, &n));
	assert_true(passes(&filter, 17005, &n));
	assert_false(passes(&filter, 20000, &n));
}

/* Ids begin anew above pid_max: a filter must be gone before. */
static void test_woken_filter__ends_before_ids_begin_anew(void **state)
{
	const int64_t child = 1000;
	struct ctx_woken_filter filter = filter_of(&child, 1, 1001, MAX);

	(void)state;
	assert_true(ctx_woken_filter_holds(&filter, 1002));
	assert_true(ctx_woken_filter_holds(&filter, MAX / 8 * 7 - 1));
	assert_false(ctx_woken_filter_holds(&filter, MAX / 8 * 7));
	assert_false(ctx_woken_filter_holds(&filter, MAX - 1));
	assert_false(ctx_woken_filter_holds(&filter, 300));
	assert_false(ctx_woken_filter_holds(&filter, 1001));
	/* Too late for one, and what is not known. */
	assert_string_equal(filter_of(&child, 1, MAX / 8 * 7, MAX).text, "");
	assert_string_equal(filter_of(&child, 1, 0, MAX).text, "");
	assert_string_equal(filter_of(&child, 1, 1001, 0).text, "");
	filter = filter_of(&child, 1, 0, 0);
	assert_true(ctx_woken_filter_holds(&filter, 5));
}

static void test_woken__the_last_id_is_at_least_that_of_a_child(void **state)
{
	int64_t before = ctx_woken_last_id(), after;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_true(child > 0);
	after = ctx_woken_last_id();
	assert_int_equal(waitpid(child, NULL, 0), child);
	if (before == 0)
		skip(); /* no /proc/loadavg */
	/* Others can be created meanwhile, and ids begin anew: then all are lower. */
	assert_true(after >= child || after < before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_woken_filter__a_command_and_what_is_created_later),
		cmocka_unit_test(test_woken_filter__has_room_for_any_number_of_threads),
		cmocka_unit_test(test_woken_filter__what_lies_together_is_one_range),
		cmocka_unit_test(test_woken_filter__ends_before_ids_begin_anew),
		cmocka_unit_test(test_woken__the_last_id_is_at_least_that_of_a_child),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
