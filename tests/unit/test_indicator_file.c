/* Metadata files of indicators. */
#include "base/mem.h"
#include "formats/indicators/indicator_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static enum ctx_status parse(struct ctx_indicator_rows *rows, const char *text, struct ctx_err *err)
{
	return ctx_indicator_file_parse(rows, text, strlen(text), err);
}

static void test_indicator_file__rows_have_their_object(void **state)
{
	static const char text[] =
		"<?xml version=\"1.0\"?>\n<indicators version=\"1\" made_by=\"hand\">\n"
		" <object path=\"/bin/a &amp; b\" build_id=\"0123abc\">\n"
		"  <indicator offset=\"0x1139\" length=\"32\" flags=\"count raise\" threshold=\"1000\" "
		"name=\"operator&lt;\"/>\n"
		"  <indicator offset=\"4097\" flags=\"start\"/><other/>\n"
		" </object>\n <object path=\"/lib/c.so\">\n"
		"  <indicator offset=\"0x4040\" length=\"8\" access=\"write\" name=\"counter\"/>\n"
		" </object>\n</indicators>\n";
	struct ctx_indicator_rows rows = {0};
	struct ctx_buf flags = {0};

	(void)state;
	assert_int_equal(parse(&rows, text, NULL), CTX_OK);
	assert_int_equal(rows.n, 3);
	assert_string_equal(rows.items[0].path, "/bin/a & b");
	assert_string_equal(rows.items[0].build_id, "0123abc");
	assert_string_equal(rows.items[0].name, "operator<");
	assert_int_equal(rows.items[0].offset, 0x1139);
	assert_int_equal(rows.items[0].length_bytes, 32);
	assert_int_equal(rows.items[0].threshold, 1000);
	assert_int_equal(rows.items[0].flags, CTX_INDICATOR_FLAG_COUNT | CTX_INDICATOR_FLAG_RAISE);
	assert_int_equal(rows.items[1].offset, 4097);
	assert_int_equal(rows.items[1].flags, CTX_INDICATOR_FLAG_START);
	assert_string_equal(rows.items[1].name, "");
	assert_string_equal(rows.items[2].path, "/lib/c.so");
	assert_string_equal(rows.items[2].build_id, "");
	assert_int_equal(rows.items[2].access, CTX_INDICATOR_FILE_WRITE);
	assert_int_equal(rows.items[2].flags, CTX_INDICATOR_FLAG_COUNT);
	ctx_indicator_flags_put(rows.items[0].flags, &flags);
	ctx_buf_put_u8(&flags, 0);
	assert_string_equal((const char *)flags.bytes, "count raise");
	ctx_buf_deinit(&flags);
	ctx_indicator_rows_deinit(&rows);
}

static void test_indicator_file__damage_is_refused_with_its_line(void **state)
{
#define OBJECT(inside) "<indicators>\n<object path=\"/a\">\n" inside "\n</object></indicators>"
	static const struct {
		const char *text, *message;
	} wrong[] = {
		{"", "line"},
		{"<a/>", "<indicators> is missing"},
		{"<indicators", "line 1"},
		{"<indicators>\n<object/></indicators>", "line 2: <object> has no usable path"},
		{"<indicators>\n<object path=\"a\"/></indicators>", "line 2: the path"},
		{"<indicators>\n<object path=\"/a\" build_id=\"xyz\"/></indicators>", "line 2: a build id"},
		{OBJECT("<indicator/>"), "line 3: <indicator> has no number offset"},
		{OBJECT("<indicator offset=\"0x\"/>"), "no number offset"},
		{OBJECT("<indicator offset=\"-1\"/>"), "no number offset"},
		{OBJECT("<indicator offset=\"99999999999999999999\"/>"), "no number offset"},
		{OBJECT("<indicator offset=\"1\" flags=\"fly\"/>"), "line 3: flags are"},
		{OBJECT("<indicator offset=\"1\" flags=\"\"/>"), "flags are"},
		{OBJECT("<indicator offset=\"1\" flags=\"count raise\"/>"), "threshold"},
		{OBJECT("<indicator offset=\"1\" threshold=\"5\"/>"), "threshold"},
		{OBJECT("<indicator offset=\"1\" flags=\"start stop\"/>"), "both starts and stops"},
		{OBJECT("<indicator offset=\"1\" access=\"read\"/>"), "access is"},
		{OBJECT("<indicator offset=\"1\" access=\"write\"/>"), "no length"},
		{OBJECT("<indicator offset=\"0xffffffffffffffff\" length=\"9\"/>"), "last address"},
		{OBJECT("<indicator offset=\"1\" name=\"a&#9;b\"/>"), "no usable name"},
		{"<!DOCTYPE indicators [<!ENTITY a \"b\">]>\n<indicators>&a;</indicators>", NULL},
	};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(wrong); i++) {
		struct ctx_indicator_rows rows = {0};
		struct ctx_err err = {0};
		enum ctx_status status = parse(&rows, wrong[i].text, &err);

		if (wrong[i].message == NULL)
			assert_int_equal(rows.n, 0);
		else if (status != CTX_E_FORMAT || strstr(err.msg, wrong[i].message) == NULL)
			fail_msg("%s: %d %s", wrong[i].text, (int)status, err.msg);
		ctx_indicator_rows_deinit(&rows);
	}
}

static void test_indicator_file__a_newer_version_and_a_huge_file_are_refused(void **state)
{
	struct ctx_indicator_rows rows = {0};

	(void)state;
	assert_int_equal(parse(&rows, "<indicators version=\"2\"/>", NULL), CTX_E_VERSION);
	assert_int_equal(ctx_indicator_file_parse(&rows, "", CTX_INDICATOR_FILE_MAX + 1, NULL), CTX_E_LIMIT);
	ctx_indicator_rows_deinit(&rows);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_indicator_file__rows_have_their_object),
		cmocka_unit_test(test_indicator_file__damage_is_refused_with_its_line),
		cmocka_unit_test(test_indicator_file__a_newer_version_and_a_huge_file_are_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
