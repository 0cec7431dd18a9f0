/* Code points to UTF-8 and back. */
#include "base/utf8.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

static void test_utf8__all_that_is_encoded_is_decoded(void **state)
{
	uint32_t wrong = 0;

	(void)state;
	for (uint32_t code = 0; code <= 0x10ffff; code++) {
		bool is_surrogate = code >= 0xd800 && code < 0xe000;
		char bytes[4];
		size_t n = ctx_utf8_encode(code, bytes);
		uint32_t decoded;
		size_t taken = ctx_utf8_decode(bytes, n, &decoded);

		wrong += is_surrogate ? n != 3 || decoded != UINT32_MAX : taken != n || decoded != code;
	}
	assert_int_equal(wrong, 0);
}

static void test_utf8__bytes_are_those_of_the_standard(void **state)
{
	static const struct {
		uint32_t code;
		const char *bytes;
	} cases[] = {{0x24, "\x24"},
		     {0x7f, "\x7f"},
		     {0x80, "\xc2\x80"},
		     {0xa3, "\xc2\xa3"},
		     {0x7ff, "\xdf\xbf"},
		     {0x800, "\xe0\xa0\x80"},
		     {0x20ac, "\xe2\x82\xac"},
		     {0xffff, "\xef\xbf\xbf"},
		     {0x10000, "\xf0\x90\x80\x80"},
		     {0x10ffff, "\xf4\x8f\xbf\xbf"}};
	struct ctx_buf all = {0};
	char expected[64] = "";

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		char bytes[4];

		assert_int_equal(ctx_utf8_encode(cases[i].code, bytes), strlen(cases[i].bytes));
		assert_memory_equal(bytes, cases[i].bytes, strlen(cases[i].bytes));
		ctx_utf8_put(&all, cases[i].code);
		strcat(expected, cases[i].bytes);
	}
	assert_int_equal(all.n, strlen(expected));
	assert_memory_equal(all.bytes, expected, all.n);
	ctx_buf_deinit(&all);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_utf8__all_that_is_encoded_is_decoded),
		cmocka_unit_test(test_utf8__bytes_are_those_of_the_standard),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
