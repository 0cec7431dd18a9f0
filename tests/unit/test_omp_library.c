/* Whether OpenMP is recorded: by the names of libraries, by what the command is, by what was asked for. */
#include "collect/omp_library.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static struct ctx_rec_options options_of(char *const *command, enum ctx_rec_omp mode)
{
	return (struct ctx_rec_options){.command = command,
					.trace = {.omp_mode = mode, .omp = mode == CTX_REC_OMP_ON}};
}

static void test_omp_library__runtimes_are_known_by_name(void **state)
{
	(void)state;
	assert_string_equal(ctx_omp_library_of("/usr/lib/libgomp.so.1"), "libgomp.so");
	assert_string_equal(ctx_omp_library_of("/opt/intel/libiomp5.so"), "libiomp5.so");
	assert_string_equal(ctx_omp_library_of("/usr/lib/llvm-14/lib/libomp.so.5"), "libomp.so");
	assert_null(ctx_omp_library_of("/usr/lib/libgompertz.so.1"));
	assert_null(ctx_omp_library_of("/usr/lib/libomptarget.so"));
	assert_null(ctx_omp_library_of("/home/libgomp.so.1/libz.so.1"));
}

static void test_omp_library__a_command_without_one_is_not_traced(void **state)
{
	struct ctx_rec_options options = options_of((char *[]){(char[]){"/bin/sh"}, NULL}, CTX_REC_OMP_AUTO);
	struct ctx_err why;

	(void)state;
	ctx_omp_library_decide(&options, &why);
	assert_false(options.trace.omp);
	assert_null(options.trace.omp_library);
	assert_int_equal(why.status, CTX_OK);
}

static void test_omp_library__what_is_asked_for_needs_no_library(void **state)
{
	struct ctx_rec_options options =
		options_of((char *[]){(char[]){"/no/such/file"}, NULL}, CTX_REC_OMP_ON);
	struct ctx_err why;

	(void)state;
	ctx_omp_library_decide(&options, &why);
	assert_true(options.trace.omp);
	assert_int_equal(why.status, CTX_OK);
	options = options_of(NULL, CTX_REC_OMP_AUTO); /* a process that runs */
	ctx_omp_library_decide(&options, &why);
	assert_false(options.trace.omp);
	options = options_of((char *[]){(char[]){"/no/such/file"}, NULL}, CTX_REC_OMP_OFF);
	ctx_omp_library_decide(&options, &why);
	assert_false(options.trace.omp);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_omp_library__runtimes_are_known_by_name),
		cmocka_unit_test(test_omp_library__a_command_without_one_is_not_traced),
		cmocka_unit_test(test_omp_library__what_is_asked_for_needs_no_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
