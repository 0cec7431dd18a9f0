/* Programs without the runtime, as a target says: counted by name and reason, within bounds, fit for a terminal. */
#include "collect/trace_texts.h"
#include "collect/trace_unfit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static bool add(struct ctx_trace_unfit *unfit, uint64_t why, const char *name)
{
	const struct ctx_trace_record record = {
		.kind = CTX_RT_UNFIT, .words = {1, why}, .text = name, .text_bytes = strlen(name)};

	return ctx_trace_unfit_add(unfit, &record);
}

static void test_trace_unfit__counts_each_program_and_reason(void **state)
{
	const struct ctx_rec_trace heap = {.heap = true}, io = {.io = true};
	struct ctx_trace_unfit unfit = {0};
	char text[CTX_TRACE_TEXT_MAX];

	(void)state;
	assert_true(add(&unfit, CTX_PROGRAM_STATIC, "./tool"));
	assert_true(add(&unfit, CTX_PROGRAM_MUSL, "./other"));
	assert_true(add(&unfit, CTX_PROGRAM_STATIC, "./tool"));
	assert_true(add(&unfit, CTX_PROGRAM_PRIVILEGED, "./tool"));
	assert_int_equal(unfit.n, 3);
	assert_int_equal(unfit.times, 4);
	ctx_trace_unfit_line(&unfit.programs[0], &heap, text);
	assert_string_equal(text, "the heap of ./tool is not recorded: statically linked (2 times)");
	ctx_trace_unfit_line(&unfit.programs[1], &io, text);
	assert_string_equal(text,
			    "input and output of ./other is not recorded: made for musl, another C library "
			    "than glibc");
	ctx_trace_unfit_line(&unfit.programs[2], &heap, text);
	assert_string_equal(text, "the heap of ./tool is not recorded: setuid or setgid");
}

static void test_trace_unfit__refuses_what_makes_no_sense(void **state)
{
	struct ctx_trace_unfit unfit = {0};

	(void)state;
	assert_false(add(&unfit, CTX_PROGRAM_STATIC, ""));
	assert_false(add(&unfit, CTX_PROGRAM_FITS, "x"));
	assert_false(add(&unfit, CTX_PROGRAM_UNKNOWN, "x"));
	assert_false(add(&unfit, CTX_PROGRAM_N, "x"));
	assert_false(add(&unfit, UINT64_MAX, "x"));
	assert_int_equal(unfit.n + unfit.times, 0);
}

static void test_trace_unfit__is_bounded_and_printable(void **state)
{
	const struct ctx_rec_trace heap = {.heap = true};
	struct ctx_trace_unfit unfit = {0};
	char name[CTX_RT_TEXT_MAX + 1], text[CTX_TRACE_TEXT_MAX];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "./tool%d", i);
		assert_true(add(&unfit, CTX_PROGRAM_STATIC, name));
	}
	assert_int_equal(unfit.n, CTX_TRACE_UNFIT_MAX);
	assert_int_equal(unfit.times, CTX_TRACE_UNFIT_MAX);

	unfit = (struct ctx_trace_unfit){0};
	memset(name, 'a', CTX_RT_TEXT_MAX);
	strcpy(name + CTX_RT_TEXT_MAX - 4, "/end");
	assert_true(add(&unfit, CTX_PROGRAM_OTHER_MACHINE, name));
	assert_int_equal(strlen(unfit.programs[0].name), CTX_TRACE_UNFIT_NAME - 1);
	assert_string_equal(unfit.programs[0].name + CTX_TRACE_UNFIT_NAME - 5, "/end");
	unfit.programs[0].times = UINT64_MAX;
	for (int why = 0; why < CTX_PROGRAM_N; why++) {
		unfit.programs[0].why = (enum ctx_program)why;
		ctx_trace_unfit_line(&unfit.programs[0], &heap, text);
		assert_non_null(strstr(text, " (18446744073709551615 times)")); /* nothing is cut */
	}
	assert_true(add(&unfit, CTX_PROGRAM_STATIC, "a\033[2J\nb\177\xc2\x9b \xc3\xa4"));
	assert_string_equal(unfit.programs[1].name, "a?[2J?b?\xc2? \xc3\xa4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_unfit__counts_each_program_and_reason),
		cmocka_unit_test(test_trace_unfit__refuses_what_makes_no_sense),
		cmocka_unit_test(test_trace_unfit__is_bounded_and_printable),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
