/* Code objects as CPython 3.11 has them, made here. */
#include "collect/python_code.h"
#include "collect/python_file.h"
#include "tests/unit/chance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define TYPE UINT64_C(0x77770000)
#define CODE UINT64_C(0x1000)
#define PLACE UINT64_C(0x2000) /* of texts, each 0x1000 further */

static uint8_t memory[0x8000];

static bool read_memory(void *context, uint64_t address, void *out, size_t n)
{
	(void)context;
	if (address > sizeof(memory) || n > sizeof(memory) - address)
		return false;
	memcpy(out, memory + address, n);
	return true;
}

static const struct ctx_python_memory all = {read_memory, NULL};

static void put(uint64_t at, uint64_t value, size_t n)
{
	memcpy(memory + at, &value, n);
}

/* A str of characters of a width, in the compact form. */
static void put_text(uint64_t at, const uint32_t *text, size_t n, unsigned width, bool is_ascii)
{
	put(at + 16, n, 8);
	put(at + 32, 0x20u | width << 2 | (is_ascii ? 0x40u : 0), 4);
	for (size_t i = 0; i < n; i++)
		put(at + (is_ascii ? 48 : 72) + i * width, text[i], width);
}

static void put_code(const uint8_t *lines, size_t n)
{
	static const uint32_t name[] = {'f', 0xe9, 0x20ac, 0x1f600}, file[] = {'a', '.', 'p', 'y'};

	memset(memory, 0, sizeof(memory));
	put(CODE + 8, TYPE, 8);
	put(CODE + 72, 10, 4);
	put(CODE + 112, PLACE, 8);
	put(CODE + 120, PLACE + 0x1000, 8);
	put(CODE + 128, PLACE + 0x1000, 8);
	put(CODE + 136, PLACE + 0x2000, 8);
	put_text(PLACE, file, 4, 1, true);
	put_text(PLACE + 0x1000, name, 4, 4, false);
	put(PLACE + 0x2000 + 16, n, 8);
	if (n != 0)
		memcpy(memory + PLACE + 0x2000 + 32, lines, n);
}

static const struct ctx_python_layout *layout(void)
{
	return ctx_python_layout_of(0x030b02f0);
}

static void test_python_code__names_are_utf8(void **state)
{
	struct ctx_python_code code;

	(void)state;
	put_code(NULL, 0);
	assert_true(ctx_python_code_read(&code, &all, layout(), CODE, TYPE));
	assert_string_equal(ctx_python_code_name(&code), "f\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
	assert_string_equal(ctx_python_code_file(&code), "a.py");
	assert_int_equal(code.first_line, 10);
	assert_int_equal(code.check, PLACE ^ (PLACE + 0x2000));
	assert_int_equal(ctx_python_code_line(&code, CODE + 184), 10);
	ctx_python_code_deinit(&code);
}

static void test_python_code__lines_are_those_of_the_table(void **state)
{
	static const uint8_t lines[] = {
		0x80 | 13 << 3 | 0,
		2, /* 1 unit, a line further */
		0x80 | 0 << 3 | 1,
		0x12, /* 2 units, the same line */
		0x80 | 11 << 3 | 0,
		1,
		2, /* 1 unit, a line further */
		0x80 | 14 << 3 | 0,
		0x40 | 6,
		1,
		0,
		1,
		1,		    /* 1 unit, 35 lines further: 70 in two groups of 6 bits */
		0x80 | 15 << 3 | 7, /* 8 units without a line */
		0x80 | 13 << 3 | 0,
		5, /* 2 lines back */
	};
	static const uint32_t want[] = {11, 11, 11, 12, 47, 10, 10, 10, 10, 10, 10, 10, 10, 45, 10};
	struct ctx_python_code code;

	(void)state;
	put_code(lines, sizeof(lines));
	assert_true(ctx_python_code_read(&code, &all, layout(), CODE, TYPE));
	for (size_t i = 0; i < sizeof(want) / sizeof(want[0]); i++)
		assert_int_equal(ctx_python_code_line(&code, code.instructions + 2 * i), want[i]);
	/* Before the first instruction. */
	assert_int_equal(ctx_python_code_line(&code, code.instructions - 2), 10);
	ctx_python_code_deinit(&code);
}

static void test_python_code__what_is_none_is_refused(void **state)
{
	struct ctx_python_code code;

	(void)state;
	put_code(NULL, 0);
	assert_false(ctx_python_code_read(&code, &all, layout(), CODE, TYPE + 8));
	ctx_python_code_deinit(&code);
	assert_false(ctx_python_code_read(&code, &all, layout(), UINT64_C(1) << 40, TYPE));
	ctx_python_code_deinit(&code);
	put(PLACE + 0x2000 + 16, UINT64_C(1) << 40, 8); /* bytes of the table */
	assert_false(ctx_python_code_read(&code, &all, layout(), CODE, TYPE));
	ctx_python_code_deinit(&code);
	put_code(NULL, 0);
	put(PLACE + 0x1000 + 32, 1u << 2, 4); /* a str that is not compact */
	assert_false(ctx_python_code_read(&code, &all, layout(), CODE, TYPE));
	ctx_python_code_deinit(&code);
}

static void test_python_code__any_bytes_give_a_line(void **state)
{
	(void)state;
	for (int i = 0; i < 3000; i++) {
		struct ctx_python_code code;
		uint8_t lines[64];
		size_t n = below(sizeof(lines));

		for (size_t k = 0; k < n; k++)
			lines[k] = (uint8_t)(below(4) != 0 ? next_random() | 0x80 : next_random());
		put_code(lines, n);
		for (int k = 0; k < 4; k++)
			memory[CODE + below(0x100)] = (uint8_t)next_random();
		/* Of no more than 8 units of code each byte can tell. */
		if (ctx_python_code_read(&code, &all, layout(), CODE, TYPE)) {
			for (uint64_t k = 0; k < 100; k += 2)
				(void)ctx_python_code_line(&code, code.instructions + k);
			assert_int_equal(ctx_python_code_line(&code, code.instructions + 16 * sizeof(lines)),
					 code.first_line);
		}
		ctx_python_code_deinit(&code);
	}
}

static void test_python_layout__is_of_versions_that_are_known(void **state)
{
	(void)state;
	assert_non_null(ctx_python_layout_of(0x030b00f0));
	assert_non_null(ctx_python_layout_of(0x030b0ef0));
	assert_null(ctx_python_layout_of(0x030b00a1)); /* an alpha version */
	assert_null(ctx_python_layout_of(0x030a0df0));
	assert_null(ctx_python_layout_of(0x030c00f0));
	assert_null(ctx_python_layout_of(0));
}

static void test_python_file__is_known_by_its_name(void **state)
{
	(void)state;
	assert_true(ctx_python_is_name("/usr/bin/python3.11"));
	assert_true(ctx_python_is_name("/usr/bin/python3"));
	assert_true(ctx_python_is_name("/opt/lib/libpython3.11.so.1.0"));
	assert_true(ctx_python_is_name("libpython3.11.so"));
	assert_false(ctx_python_is_name("/usr/bin/python3-config"));
	assert_false(ctx_python_is_name("/usr/lib/libpython3-stub.so"));
	assert_false(ctx_python_is_name("/usr/bin/python2.7"));
	assert_false(ctx_python_is_name("//anon"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_python_code__names_are_utf8),
		cmocka_unit_test(test_python_code__lines_are_those_of_the_table),
		cmocka_unit_test(test_python_code__what_is_none_is_refused),
		cmocka_unit_test(test_python_code__any_bytes_give_a_line),
		cmocka_unit_test(test_python_layout__is_of_versions_that_are_known),
		cmocka_unit_test(test_python_file__is_known_by_its_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
