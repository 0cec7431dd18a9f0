/* Records of what a traced process says of itself: names are bounded, what makes no sense is none. */
#include "collect/trace_marks.h"
#include "collect/trace_texts.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

/* NULL: the record makes no sense. */
static const char *read_name(struct ctx_trace_marks *marks, const char *text, size_t n)
{
	struct ctx_trace_record record = {.kind = CTX_RT_MARK,
					  .words = {5, CTX_MARK_COUNTER, (uint64_t)-7},
					  .text = text,
					  .text_bytes = n};
	struct ctx_exp_mark mark = {0};

	if (!ctx_trace_mark_read(&record, marks, &mark))
		return NULL;
	assert_int_equal(mark.time_ns, 5);
	assert_int_equal(mark.operation, CTX_MARK_COUNTER);
	assert_int_equal(mark.value, -7);
	return mark.name;
}

static void test_trace_marks__a_name_ends_with_its_text_or_a_zero(void **state)
{
	struct ctx_trace_marks marks = {0};
	char longest[136];

	(void)state;
	assert_string_equal(read_name(&marks, "abcdefgh", 8), "abcdefgh"); /* no zero behind it */
	assert_string_equal(read_name(&marks, "abc\0\0\0\0\0", 8), "abc");
	assert_string_equal(read_name(&marks, "abc\0defg", 8), "abc");
	assert_null(read_name(&marks, "\0\0\0\0\0\0\0\0", 8));
	memset(longest, 'x', sizeof(longest));
	assert_null(read_name(&marks, longest, sizeof(longest))); /* the runtime writes no such */
	longest[CTX_RT_MARK_NAME_MAX] = '\0';
	assert_int_equal(strlen(read_name(&marks, longest, 128)), CTX_RT_MARK_NAME_MAX);
	ctx_trace_marks_deinit(&marks);
}

static void test_trace_marks__further_names_than_4096_are_one(void **state)
{
	struct ctx_trace_marks marks = {0};
	char name[16];

	(void)state;
	for (unsigned i = 0; i < 2 * CTX_TRACE_NAMES_MAX; i++) {
		int n = snprintf(name, sizeof(name), "n%u", i);

		assert_string_equal(read_name(&marks, name, (size_t)n),
				    i < CTX_TRACE_NAMES_MAX ? name : "<Others>");
	}
	assert_string_equal(read_name(&marks, "n7", 2), "n7");
	assert_int_equal(marks.names.n, CTX_TRACE_NAMES_MAX);
	ctx_trace_marks_deinit(&marks);
}

static void test_trace_marks__an_unknown_number_is_damage(void **state)
{
	struct ctx_trace_marks marks = {0};
	struct ctx_trace_record record = {
		.kind = CTX_RT_MARK, .words = {5, CTX_MARK_N}, .text = "abcdefgh", .text_bytes = 8};
	struct ctx_exp_mark mark;

	(void)state;
	assert_false(ctx_trace_mark_read(&record, &marks, &mark));
	record.words[1] = UINT64_C(1) << 40;
	assert_false(ctx_trace_mark_read(&record, &marks, &mark));
	record.words[1] = CTX_MARK_N - 1;
	assert_true(ctx_trace_mark_read(&record, &marks, &mark));
	ctx_trace_marks_deinit(&marks);
}

/* The texts that there are, as bits. */
static unsigned texts(const struct ctx_trace_counts *counts, const struct ctx_rec_trace *trace)
{
	char text[CTX_TRACE_TEXT_MAX];
	unsigned said = 0;

	for (unsigned i = 0; i < CTX_TRACE_TEXTS; i++)
		said |= (unsigned)ctx_trace_text(counts, trace, i, text) << i;
	return said;
}

static void test_trace_marks__a_pause_is_said_where_it_left_something_out(void **state)
{
	const struct ctx_trace_counts counts = {.processes = 1, .pauses = 2};
	char text[CTX_TRACE_TEXT_MAX];

	(void)state;
	assert_int_equal(texts(&counts, &(struct ctx_rec_trace){.marks = true}), 0);
	assert_int_equal(texts(&counts, &(struct ctx_rec_trace){.sync = true}), 1u << 7);
	assert_true(ctx_trace_text(&counts, &(struct ctx_rec_trace){.sync = true}, 7, text));
	assert_non_null(strstr(text, "recording of synchronisation 2 times"));
	assert_true(ctx_trace_text(&(struct ctx_trace_counts){0}, &(struct ctx_rec_trace){.marks = true}, 0,
				   text));
	assert_non_null(strstr(text, "no mark was recorded"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_trace_marks__a_name_ends_with_its_text_or_a_zero),
		cmocka_unit_test(test_trace_marks__further_names_than_4096_are_one),
		cmocka_unit_test(test_trace_marks__an_unknown_number_is_damage),
		cmocka_unit_test(test_trace_marks__a_pause_is_said_where_it_left_something_out),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
