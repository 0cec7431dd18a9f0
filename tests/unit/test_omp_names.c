/*
 * Names of functions that stand for constructs of OpenMP, and what can be read off them.
 */
#include "model/omp.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_omp_names__a_function_is_what_is_before_the_construct_and_its_parameters(void **state)
{
	static const char *const names[][2] = {
		{"f -- OMP parallel region from line 12", "f"},
		{"f", "f"},
		{"a::f(int, std::vector<int, std::allocator<int> >) const -- OMP loop", "a::f"},
		{"(anonymous namespace)::f(int (*)(int)) -- OMP task from line 3",
		 "(anonymous namespace)::f"},
		{"f::operator()(int) -- OMP single", "f::operator()"},
		{"solve() -- OMP parallel region from line 9", "solve"},
		{"(int) -- OMP loop", "(int)"},
		{" const -- OMP loop", " const"},
		{") -- OMP loop", ")"},
		{"f) -- OMP loop", "f)"},
		{" -- OMP loop", ""},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		assert_int_equal(ctx_omp_function_length(names[i][0]), strlen(names[i][1]));
		assert_memory_equal(names[i][0], names[i][1], strlen(names[i][1]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			test_omp_names__a_function_is_what_is_before_the_construct_and_its_parameters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
