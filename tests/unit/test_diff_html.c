/*
 * The file of a comparison's page: the data in it, whatever names are in them, and memory that runs out.
 */
#include "base/mem.h"
#include "diff_fixture.h"
#include "failing_malloc.h"
#include "report/diff_html.h"
#include "report/html_template.h"

#include <stdio.h>
#include <zlib.h>

#define HOSTILE "</script><script>alert(1)</script>\xe2\x80\xa8\"\\"

struct pair {
	struct world *worlds[CTX_COMPARE_SIDES];
	struct ctx_report_source *sources[CTX_COMPARE_SIDES];
	struct ctx_report_slice slices[2];
	struct ctx_diff_spec spec;
};

static void make_pair(struct pair *pair)
{
	static const char *const paths[] = {HOSTILE ".er", "b.er"};

	random_state = 7;
	*pair = (struct pair){.slices = {{.weight = 25}, {.weight = 75}}};
	for (uint32_t side = 0; side < CTX_COMPARE_SIDES; side++) {
		struct fake_source *fake;

		pair->worlds[side] = world_new(side);
		fake = &pair->worlds[side]->fake;
		fake->path = paths[side];
		fake->slices = pair->slices;
		fake->n_slices = fake->slices_per_thread = 2;
		pair->sources[side] = fake_open(fake);
	}
	pair->spec = spec_of(pair->sources, CTX_DIFF_FUNCTIONS, false);
}

static void free_pair(struct pair *pair)
{
	for (int side = 0; side < CTX_COMPARE_SIDES; side++)
		world_free(pair->worlds[side]);
}

/* Writes the page to a memory of its own; *ret is released by the caller, NULL on failure. */
static enum ctx_status write_page(const struct pair *pair, size_t max_bytes, char **ret, size_t *ret_n)
{
	const struct ctx_report_options options = {.format = CTX_REPORT_TEXT};
	struct ctx_diff_html *page = NULL;
	FILE *out = open_memstream(ret, ret_n);
	enum ctx_status status;

	assert_non_null(out);
	status = ctx_diff_html_create(&pair->spec, &page, NULL);
	if (status == CTX_OK)
		status = ctx_diff_html_add(page, &pair->spec, NULL, &options, NULL);
	if (status == CTX_OK) {
		ctx_diff_html_leave_out(page, "what is \"left out\"");
		status = ctx_diff_html_write(page, max_bytes, out, NULL);
	}
	ctx_diff_html_destroy(page);
	fclose(out);
	return status;
}

static unsigned digit_of(char c)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	const char *at = strchr(digits, c);

	assert_non_null(at);
	return (unsigned)(at - digits);
}

/* The text behind id="profile", without base64 and gzip. */
static char *data_of(const char *page)
{
	const char *at = strstr(page, "id=\"profile\">");
	z_stream stream = {0};
	uint8_t *packed;
	char *text = calloc(1, 1 << 20);
	size_t n = 0;

	assert_non_null(at);
	assert_non_null(text);
	at += strlen("id=\"profile\">");
	packed = malloc(strlen(at));
	assert_non_null(packed);
	for (unsigned bits = 0, have = 0; *at != '<' && *at != '='; at++) {
		bits = bits << 6 | digit_of(*at);
		have += 6;
		if (have >= 8)
			packed[n++] = (uint8_t)(bits >> (have -= 8));
	}
	assert_int_equal(inflateInit2(&stream, 15 + 16), Z_OK);
	stream.next_in = packed;
	stream.avail_in = (uInt)n;
	stream.next_out = (uint8_t *)text;
	stream.avail_out = (1 << 20) - 1;
	assert_int_equal(inflate(&stream, Z_FINISH), Z_STREAM_END);
	inflateEnd(&stream);
	free(packed);
	return text;
}

static void assert_has(const char *text, const char *part)
{
	if (strstr(text, part) == NULL)
		fail_msg("no %s in %s", part, text);
}

static void test_diff_html__has_tables_lines_notes_and_what_is_left_out(void **unused)
{
	struct pair pair;
	char *page, *text;
	size_t n;

	(void)unused;
	make_pair(&pair);
	assert_int_equal(write_page(&pair, 1 << 20, &page, &n), CTX_OK);
	assert_has(page, "id=\"head\">{\"version\":1}</script>");
	text = data_of(page);
	assert_has(text,
		   "{\"tables\":[{\"title\":\"functions, self time\",\"data\":{\"report\":\"functions\"");
	assert_has(text, "\"function\":\"<Total>\"");
	assert_has(text, "\"lines\":[{\"side\":\"A\",\"recording\":\"</script><script>alert(1)</script>");
	assert_has(text, "{\"side\":\"B\",\"recording\":\"b.er\",\"begin_ns\":100000000,\"end_ns\":900000000,"
			 "\"weights\":[25,75]}");
	assert_has(text, "\"left_out\":[\"what is \\\"left out\\\"\"]");
	free(text);
	free(page);
	free_pair(&pair);
}

static size_t count(const char *text, const char *part)
{
	size_t n = 0;

	for (; (text = strstr(text, part)) != NULL; text++)
		n++;
	return n;
}

static void test_diff_html__a_name_does_not_end_an_element(void **unused)
{
	struct ctx_html_template template = ctx_html_diff_template();
	char *alone = strndup(template.bytes, template.n);
	struct pair pair;
	char *page;
	size_t n;

	(void)unused;
	make_pair(&pair);
	assert_non_null(alone);
	assert_int_equal(write_page(&pair, 1 << 20, &page, &n), CTX_OK);
	assert_int_equal(count(page, "</script"), count(alone, "</script"));
	assert_null(strstr(page, "alert(1)"));
	free(page);
	free(alone);
	free_pair(&pair);
}

static void test_diff_html__a_page_is_as_small_as_it_has_to_be_or_not_written(void **unused)
{
	struct pair pair;
	char *page;
	size_t whole, n;

	(void)unused;
	make_pair(&pair);
	assert_int_equal(write_page(&pair, 1 << 20, &page, &whole), CTX_OK);
	free(page);
	assert_int_equal(write_page(&pair, whole, &page, &n), CTX_OK);
	assert_int_equal(n, whole);
	free(page);
	assert_int_equal(write_page(&pair, whole - 1, &page, &n), CTX_E_LIMIT);
	assert_int_equal(n, 0);
	free(page);
	free_pair(&pair);
}

static void test_diff_html__memory_that_runs_out_is_an_error(void **unused)
{
	struct pair pair;
	bool failed = true;

	(void)unused;
	make_pair(&pair);
	for (long i = 0; failed; i++) {
		char *page = NULL;
		size_t n;
		enum ctx_status status;

		fail_after = i;
		status = write_page(&pair, 1 << 20, &page, &n);
		failed = fail_after == -1;
		fail_after = -1;
		/* What only a note or a time line needs may be missing. */
		assert_true(failed || status == CTX_OK);
		assert_true(status == CTX_OK || status == CTX_E_NOMEM);
		assert_true(status == CTX_OK || n == 0);
		assert_true(i < 100000);
		free(page);
	}
	free_pair(&pair);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_diff_html__has_tables_lines_notes_and_what_is_left_out),
		cmocka_unit_test(test_diff_html__a_name_does_not_end_an_element),
		cmocka_unit_test(test_diff_html__a_page_is_as_small_as_it_has_to_be_or_not_written),
		cmocka_unit_test(test_diff_html__memory_that_runs_out_is_an_error),
	};

	return cmocka_run_group_tests_name("diff_html", tests, NULL, NULL);
}
