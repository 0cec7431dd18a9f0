/* Attributes of the lines of an experiment: numbers are what printf writes. */
#include "formats/experiment/exp_xml.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static void assert_line(struct ctx_buf *out, const char *expected)
{
	ctx_buf_put_u8(out, 0);
	assert_false(out->failed);
	assert_string_equal((const char *)out->bytes, expected);
	ctx_buf_clear(out);
}

static void check(struct ctx_buf *out, uint64_t value)
{
	char expected[200];

	ctx_exp_xml_number(out, "a", value);
	ctx_exp_xml_signed(out, "b", (int64_t)value);
	ctx_exp_xml_hex(out, "c", value);
	ctx_exp_xml_time(out, "d", value);
	snprintf(expected, sizeof(expected),
		 " a=\"%" PRIu64 "\" b=\"%" PRId64 "\" c=\"0x%" PRIx64 "\" d=\"%" PRIu64 ".%09" PRIu64 "\"",
		 value, (int64_t)value, value, value / 1000000000u, value % 1000000000u);
	assert_line(out, expected);
}

static void test_experiment_xml__numbers_are_what_printf_writes(void **state)
{
	struct ctx_buf out = {0};

	(void)state;
	for (unsigned bit = 0; bit < 64; bit++) {
		uint64_t value = UINT64_C(1) << bit;

		check(&out, value);
		check(&out, value - 1);
		check(&out, 0 - value);
	}
	for (uint64_t value = 1; value < UINT64_MAX / 10; value *= 10) {
		check(&out, value);
		check(&out, value - 1);
		check(&out, 0 - value);
	}
	check(&out, UINT64_MAX);
	ctx_buf_deinit(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_experiment_xml__numbers_are_what_printf_writes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
