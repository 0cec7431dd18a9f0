/*
 * What source files say of constructs of OpenMP.
 */
#include "ingest/omp_source.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/test_omp_source_XXXXXX";

static int make(void **state)
{
	static const char text[] = "static void first(void)\n" /* 1 */
				   "{\n"
				   "\tcall();\n"
				   "#pragma omp for schedule(dynamic, 3) /* single */\n"
				   "\tfor (;;)\n" /* 5 */
				   "\t\t;\n"
				   "\t# pragma  omp parallel for simd if(loop)\n"
				   "#pragma omp  barrier\n"
				   "}\n"
				   "/* #pragma omp sections */\n" /* 10 */
				   "#pragma once\n"
				   "#pragma omp sections nowait\n"
				   "subroutine second\n"
				   "  !$OMP END DO\n"
				   "  !$omp do ordered\n" /* 15 */
				   "END SUBROUTINE second\n"
				   "  !$omp single\n"
				   "  end\n"
				   "!$omp taskloop";
	int fd = mkstemp(path);

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, sizeof(text) - 1), sizeof(text) - 1);
	return close(fd);
}

static int clean(void **state)
{
	(void)state;
	return unlink(path);
}

static void test_omp_source__the_next_directive_of_the_function_with_the_word_is_found(void **state)
{
	static const struct {
		uint32_t line;
		const char *words;
		uint32_t found;
	} cases[] = {
		{1, "for do loop", 4},	   {4, "for do loop", 4},    {5, "for do loop", 7},
		{8, "for do loop", 0},	   {1, "single", 0},	     {1, "sections", 0},
		{10, "sections", 12},	   {3, "parallel", 7},	     {13, "for do loop", 15},
		{16, "single", 0},	   {17, "single", 17},	     {18, "task taskloop", 0},
		{19, "task taskloop", 19}, {20, "task taskloop", 0}, {0, "single", 0},
		{4000, "single", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		uint32_t found = ctx_omp_source_find(path, cases[i].line, cases[i].words);

		if (found != cases[i].found)
			fail_msg("%s from line %u on: %u, not %u", cases[i].words, cases[i].line, found,
				 cases[i].found);
	}
	assert_int_equal(ctx_omp_source_find("/nowhere", 1, "for"), 0);
	assert_int_equal(ctx_omp_source_find(NULL, 1, "for"), 0);
}

static void test_omp_source__a_line_that_is_there_names_a_barrier_or_does_not(void **state)
{
	(void)state;
	assert_true(ctx_omp_source_names_barrier(path, 8));
	assert_false(ctx_omp_source_names_barrier(path, 4));
	assert_true(ctx_omp_source_names_barrier(path, 4000));
	assert_true(ctx_omp_source_names_barrier("/nowhere", 4));
	assert_true(ctx_omp_source_names_barrier(NULL, 4));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_omp_source__the_next_directive_of_the_function_with_the_word_is_found),
		cmocka_unit_test(test_omp_source__a_line_that_is_there_names_a_barrier_or_does_not),
	};

	return cmocka_run_group_tests(tests, make, clean);
}
