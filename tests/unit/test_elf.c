/* Integers of ELF and DWARF (elf/elf_bytes.h). */
#include "elf/elf_bytes.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* The obvious encoder of DWARF 5, 7.6. */
static size_t put_sleb(uint8_t *out, int64_t value)
{
	size_t n = 0;

	for (;;) {
		uint8_t byte = (uint8_t)(value & 0x7f);

		value >>= 7;
		if ((value == 0 && (byte & 0x40) == 0) || (value == -1 && (byte & 0x40) != 0)) {
			out[n++] = byte;
			return n;
		}
		out[n++] = byte | 0x80;
	}
}

static void assert_sleb(int64_t value)
{
	uint8_t bytes[16] = {0};
	size_t n = put_sleb(bytes, value);
	struct ctx_cursor cursor = ctx_cursor_make(bytes, n + 1);

	assert_int_equal(ctx_elf_get_sleb(&cursor), value);
	assert_int_equal(ctx_cursor_left(&cursor), 1);
	assert_false(cursor.failed);
	cursor = ctx_cursor_make(bytes, n + 1);
	ctx_elf_skip_leb(&cursor);
	assert_int_equal(ctx_cursor_left(&cursor), 1);
	/* Cut short. */
	cursor = ctx_cursor_make(bytes, n - 1);
	assert_int_equal(ctx_elf_get_sleb(&cursor), 0);
	assert_true(cursor.failed);
}

static void test_elf__signed_leb128_of_every_length_comes_back(void **state)
{
	(void)state;
	assert_sleb(0);
	assert_sleb(INT64_MAX);
	assert_sleb(INT64_MIN);
	for (int bits = 0; bits < 63; bits++) {
		assert_sleb((INT64_C(1) << bits) - 1);
		assert_sleb(INT64_C(1) << bits);
		assert_sleb(-(INT64_C(1) << bits));
		assert_sleb(-(INT64_C(1) << bits) - 1);
	}
}

static void test_elf__a_padded_leb128_is_read_up_to_ten_bytes(void **state)
{
	uint8_t bytes[12];
	struct ctx_cursor cursor;

	(void)state;
	memset(bytes, 0x80, sizeof(bytes));
	bytes[9] = 0;
	cursor = ctx_cursor_make(bytes, sizeof(bytes));
	assert_int_equal(ctx_elf_get_sleb(&cursor), 0);
	assert_int_equal(ctx_cursor_left(&cursor), 2);
	cursor = ctx_cursor_make(bytes, sizeof(bytes));
	ctx_elf_skip_leb(&cursor);
	assert_int_equal(ctx_cursor_left(&cursor), 2);

	bytes[9] = 0x80;
	cursor = ctx_cursor_make(bytes, sizeof(bytes));
	assert_int_equal(ctx_elf_get_sleb(&cursor), 0);
	assert_true(cursor.failed);
	assert_ptr_equal(cursor.at, bytes);
	cursor = ctx_cursor_make(bytes, sizeof(bytes));
	ctx_elf_skip_leb(&cursor);
	assert_true(cursor.failed);
}

static void test_elf__integers_have_the_byte_order_of_the_file(void **state)
{
	static const uint8_t bytes[] = {1, 2, 3, 4, 5, 6, 7, 8};
	struct ctx_cursor cursor = ctx_cursor_make(bytes, sizeof(bytes));

	(void)state;
	assert_int_equal(ctx_elf_get_uint(&cursor, 2, false), 0x0201);
	assert_int_equal(ctx_elf_get_uint(&cursor, 3, true), 0x030405);
	assert_int_equal(ctx_elf_get_uint(&cursor, 4, true), 0);
	assert_true(cursor.failed);
	cursor = ctx_cursor_make(bytes, sizeof(bytes));
	assert_true(ctx_elf_get_uint(&cursor, 8, true) == UINT64_C(0x0102030405060708));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_elf__signed_leb128_of_every_length_comes_back),
		cmocka_unit_test(test_elf__a_padded_leb128_is_read_up_to_ten_bytes),
		cmocka_unit_test(test_elf__integers_have_the_byte_order_of_the_file),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
