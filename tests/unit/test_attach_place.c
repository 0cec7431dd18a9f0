/* Which places of a thread are safe: by stacks, leaf first. */
#include "collect/attach_place.h"
#include "collect/attach_target.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static bool is_safe(const char *stack)
{
	enum ctx_attach_frame frames[16];
	size_t n = strlen(stack);

	/* . elsewhere, n named, i inner, b barred */
	for (size_t i = 0; i < n; i++)
		frames[i] = stack[i] == '.'   ? CTX_ATTACH_ELSEWHERE
			    : stack[i] == 'n' ? CTX_ATTACH_NAMED
			    : stack[i] == 'i' ? CTX_ATTACH_INNER
					      : CTX_ATTACH_BARRED;
	return ctx_attach_is_safe(frames, n);
}

static void test_attach_place__safe_places(void **state)
{
	static const char *const safe[] = {
		".",	  /* the program alone */
		"..in.",  /* main, called by the C library */
		"n.in",	  /* read */
		"in.in",  /* pthread_cond_wait: an inner function of it waits */
		".n.in",  /* a callback of qsort */
		"..i",	  /* a thread */
		".nin..", /* the vdso, called by the C library */
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(safe); i++)
		assert_true(is_safe(safe[i]));
}

static void test_attach_place__places_that_are_not(void **state)
{
	static const char *const unsafe[] = {
		"",	   /* nothing is known */
		"b.in",	   /* malloc */
		"inb.in",  /* an inner function of malloc that maps memory */
		"i.in.",   /* an inner function that nobody has named: memalign leaves so */
		".i.in",   /* a handler's frame: the trampoline has no name */
		"in",	   /* a thread that begins or ends */
		"n.b.in",  /* read, in a constructor that the loader calls */
		"...bn.i", /* anything that the loader calls */
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(unsafe); i++)
		assert_false(is_safe(unsafe[i]));
}

static void test_attach_place__functions_that_have_locks_are_barred(void **state)
{
	static const char *const barred[] = {
		"malloc", "free",	    "realloc",	     "posix_memalign", "dlopen", "dl_iterate_phdr",
		"fork",	  "pthread_create", "__libc_malloc", "exit",	       "calloc"};
	static const char *const harmless[] = {"read",	    "poll",   "pthread_cond_wait",
					       "qsort",	    "system", "__libc_start_main",
					       "nanosleep", "memcpy"};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(barred); i++)
		assert_true(ctx_attach_is_barred(barred[i]));
	for (size_t i = 0; i < CTX_COUNT_OF(harmless); i++)
		assert_false(ctx_attach_is_barred(harmless[i]));
}

static void test_attach_place__numbers_of_a_status_file(void **state)
{
	const char *status = "Name:\tSeccomp:\nTracerPid:\t12\nSigIgn:\t0000000000000400\nSeccomp:\t2\n";

	(void)state;
	assert_int_equal(ctx_attach_status_number(status, "TracerPid", 10, 5), 12);
	assert_int_equal(ctx_attach_status_number(status, "SigIgn", 16, 0), 1 << 10);
	assert_int_equal(ctx_attach_status_number(status, "Seccomp", 10, 0), 2);
	assert_int_equal(ctx_attach_status_number(status, "Seccomp_filters", 10, 7), 7);
	assert_int_equal(ctx_attach_status_number("", "Seccomp", 10, 7), 7);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_attach_place__safe_places),
		cmocka_unit_test(test_attach_place__places_that_are_not),
		cmocka_unit_test(test_attach_place__functions_that_have_locks_are_barred),
		cmocka_unit_test(test_attach_place__numbers_of_a_status_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
