/* Which function a compiler has taken a construct's code out of. */
#include "ingest/omp_outlined.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void test_omp_outlined__the_function_around_is_within_the_name(void **state)
{
	static const struct {
		const char *function, *around;
	} names[] = {
		{"f", "f"},
		{"f._omp_fn.0", "f"},
		{"n::f(int)._omp_fn.12", "n::f(int)"},
		{"f [clone ._omp_fn.1]", "f"},
		{"f (inlined)", "f"},
		{"f [constprop.0]", "f"},
		{".omp_outlined.", ""},
		{"f.omp_outlined_debug__", "f"},
		{".omp_task_entry.", ""},
		{"__omp_offloading_fe00_ab4556_main_l6", "main"},
		{"__omp_offloading_fe00_ab4556_main_l6_debug__ (inlined)", "main"},
		{"__omp_offloading_1_2_a_l3_l44", "a_l3"},
		/* Not clang's. */
		{"__omp_offloading_", "__omp_offloading_"},
		{"__omp_offloading_1_2_", "__omp_offloading_1_2_"},
		{"__omp_offloading_1_2_l3", "__omp_offloading_1_2_l3"},
		{"__omp_offloading_1_2_debug__", "__omp_offloading_1_2_debug__"},
		{"__omp_offloading_x_2_main_l6", "__omp_offloading_x_2_main_l6"},
		{"__omp_offloading_1_2_main_6", "__omp_offloading_1_2_main_6"},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(names); i++) {
		char found[80];
		size_t n;
		const char *at = ctx_omp_container(names[i].function, &n);

		snprintf(found, sizeof(found), "%.*s", (int)n, at);
		assert_string_equal(found, names[i].around);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_omp_outlined__the_function_around_is_within_the_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
