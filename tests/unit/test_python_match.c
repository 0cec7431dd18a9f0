#include "collect/python_match.h"
#include "model/event_source.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define EVAL 0x1000u /* to 0x1fff */
#define FRAMES_MAX 64u

static const struct ctx_python_native no_native = {.eval_begin = EVAL, .eval_end = 2 * EVAL};

static size_t match(const uint64_t *native, size_t n, const char *entries, bool is_cut, uint64_t *out)
{
	struct ctx_python_native stack = no_native;
	uint64_t names[FRAMES_MAX];
	bool is_entry[FRAMES_MAX];
	struct ctx_python_named named = {.frames = names, .is_entry = is_entry, .is_cut = is_cut};

	stack.frames = native;
	stack.n = n;
	for (; entries[named.n] != '\0'; named.n++) {
		names[named.n] = ctx_frame_named((uint32_t)named.n, 1);
		is_entry[named.n] = entries[named.n] == 'e';
	}
	return ctx_python_match(&stack, &named, out);
}

/* `e` a first frame of a call of the loop, `.` another one. Wanted: E the loop, p a function of Python, n others. */
static void assert_match(const char *native, const char *entries, const char *want)
{
	uint64_t frames[FRAMES_MAX], out[2 * FRAMES_MAX];
	char got[2 * FRAMES_MAX + 1];
	size_t n = strlen(native), n_out, next = 0;

	for (size_t i = 0; i < n; i++)
		frames[i] = native[i] == 'E'   ? EVAL + i
			    : native[i] == 'k' ? CTX_KERNEL_START + i
			    : native[i] == '?' ? ctx_frame_truncated(CTX_TRUNCATED_COPY)
					       : 0x5000 + i;
	n_out = match(frames, n, entries, false, out);
	for (size_t i = 0; i < n_out; i++) {
		got[i] = ctx_frame_is_named(out[i])	       ? 'p'
			 : out[i] >= EVAL && out[i] < 2 * EVAL ? 'E'
			 : ctx_frame_is_mark(out[i])	       ? '?'
			 : out[i] >= CTX_KERNEL_START	       ? 'k'
							       : 'n';
		if (got[i] == 'p')
			assert_int_equal(ctx_frame_function(out[i]), next++);
	}
	got[n_out] = '\0';
	assert_string_equal(got, want);
}

static void test_python_match__each_call_of_the_loop_has_its_functions(void **state)
{
	(void)state;
	assert_match("nEn", "e", "npEn");
	assert_match("Enn", "..e", "pppEnn");
	assert_match("nEnEn", ".ee", "nppEnpEn");
	assert_match("kknEn", ".e", "kknppEn");
}

static void test_python_match__a_call_that_has_just_begun_has_none(void **state)
{
	(void)state;
	assert_match("EnEn", "e", "EnpEn");
	assert_match("kEnEn", ".e", "kEnppEn");
	/* Not the leaf: something is missing. */
	assert_match("nEnEn", "e", "");
}

static void test_python_match__what_does_not_match_is_not_guessed(void **state)
{
	(void)state;
	assert_match("nEn", "ee", "");
	assert_match("nn", "e", "");
	assert_match("nEn", "", "");
	assert_match("EnEnEn", "e", "");
}

static void test_python_match__cut_stacks_match_from_the_leaf(void **state)
{
	(void)state;
	assert_match("nEnE?", "e.ee", "npEnppE?");
	/* Whether the leaf has functions already cannot be told. */
	assert_match("EnE?", "eee", "");
	assert_match("nEnEn", "e.", "npEnpEn");
}

/* Stacks that are made of calls: each loop has its functions. The leaf may be a loop without any. */
static void test_python_match__made_stacks_are_found_again(void **state)
{
	(void)state;
	for (int i = 0; i < 2000; i++) {
		uint64_t native[FRAMES_MAX], want[2 * FRAMES_MAX], out[2 * FRAMES_MAX];
		char entries[FRAMES_MAX + 1];
		size_t n = 0, n_names = 0, n_want = 0, calls = 1 + below(5);

		for (size_t call = 0; call < calls; call++) {
			for (uint64_t k = below(3) + (call != 0); k > 0; k--) {
				native[n] = 0x5000 + n;
				want[n_want++] = native[n++];
			}
			if (call != 0 || n != 0 || below(2) != 0) {
				for (uint64_t k = below(3); k > 0; k--) {
					want[n_want++] = ctx_frame_named((uint32_t)n_names, 1);
					entries[n_names++] = '.';
				}
				want[n_want++] = ctx_frame_named((uint32_t)n_names, 1);
				entries[n_names++] = 'e';
			}
			native[n] = EVAL + n;
			want[n_want++] = native[n++];
		}
		entries[n_names] = '\0';
		if (n_names == 0)
			continue;
		assert_int_equal(match(native, n, entries, false, out), n_want);
		assert_memory_equal(out, want, n_want * sizeof(out[0]));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_python_match__each_call_of_the_loop_has_its_functions),
		cmocka_unit_test(test_python_match__a_call_that_has_just_begun_has_none),
		cmocka_unit_test(test_python_match__what_does_not_match_is_not_guessed),
		cmocka_unit_test(test_python_match__cut_stacks_match_from_the_leaf),
		cmocka_unit_test(test_python_match__made_stacks_are_found_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
