/* dyntext: instructions of code that was made at run time. */
#include "formats/gprofng/gp_code.h"
#include "tests/unit/failing_malloc.h"
#include "tests/unit/gprofng_fixture.h"

#include <stdlib.h>
#include <unistd.h>

#define PATH "dyntext"

static void put_load(struct ctx_buf *out, bool big, int64_t time_ns, uint64_t address)
{
	gp_u32(out, big, 1);
	gp_u32(out, big, 24);
	gp_u64(out, big, (uint64_t)time_ns);
	gp_u64(out, big, address);
}

static void put_record(struct ctx_buf *out, bool big, unsigned type, const char *bytes)
{
	gp_u32(out, big, type);
	gp_u32(out, big, (uint32_t)(8 + strlen(bytes)));
	ctx_buf_put(out, bytes, strlen(bytes));
}

static void write_bytes(const void *bytes, size_t n)
{
	gp_write(".", PATH, bytes, n);
}

static int setup(void **state)
{
	static char directory[64];

	snprintf(directory, sizeof(directory), "/tmp/test-gprofng-code-XXXXXX");
	*state = mkdtemp(directory);
	return *state != NULL ? chdir(directory) : -1;
}

static int teardown(void **state)
{
	unlink(PATH);
	return chdir("/") == 0 ? rmdir(*state) : -1;
}

static void check(const struct ctx_gp_code *code, uint64_t address, uint64_t size, int64_t time_ns,
		  const char *expected)
{
	size_t n = 0;
	const uint8_t *bytes = ctx_gp_code_find(code, address, size, time_ns, &n);

	if (expected == NULL) {
		assert_null(bytes);
		return;
	}
	assert_non_null(bytes);
	assert_int_equal(n, strlen(expected));
	assert_memory_equal(bytes, expected, n);
}

static void test_gp_code__bytes_are_those_of_the_place_and_the_time(void **state)
{
	(void)state;
	for (int big = 0; big < 2; big++) {
		struct ctx_gp_code code = {0};
		struct ctx_buf out = {0};

		put_load(&out, big != 0, 100, 0x1000);
		put_record(&out, big != 0, 2, "first one");
		put_record(&out, big != 0, 3, "lines 8 ");
		put_record(&out, big != 0, 4, "Source.java");
		put_load(&out, big != 0, 300, 0x1000);
		put_record(&out, big != 0, 2, "the later");
		put_load(&out, big != 0, 50, 0x2000);
		put_record(&out, big != 0, 2, "begins and ");
		put_record(&out, big != 0, 2, "goes on");
		write_bytes(out.bytes, out.n);
		assert_int_equal(ctx_gp_code_read(&code, PATH, big != 0, NULL), CTX_OK);
		assert_int_equal(code.damaged, 0);
		check(&code, 0x1000, 5, 100, "first");
		check(&code, 0x1000, 100, 299, "first one");
		check(&code, 0x1000, 100, 300, "the later");
		check(&code, 0x1000, 100, 5, "first one"); /* recorded after its use */
		check(&code, 0x1004, 3, 1000, "lat");
		check(&code, 0x1009, 1, 1000, NULL);
		check(&code, 0xfff, 1, 1000, NULL);
		check(&code, 0x1000, 0, 1000, NULL);
		check(&code, 0x2007, 3, 0, "and");
		check(&code, 0x200b, 9, 0, "goes on");
		check(&code, UINT64_MAX, 9, 0, NULL);
		ctx_gp_code_deinit(&code);
		ctx_buf_deinit(&out);
	}
}

static void test_gp_code__records_that_make_no_sense_end_the_file(void **state)
{
	struct ctx_gp_code code = {0};
	struct ctx_buf out = {0};

	(void)state;
	put_record(&out, false, 2, "of nothing");
	put_load(&out, false, 0, 0x1000);
	put_record(&out, false, 2, "good");
	put_load(&out, false, 0, UINT64_MAX - 2);
	put_record(&out, false, 2, "behind the end");
	gp_u32(&out, false, 2);
	gp_u32(&out, false, 7);
	put_record(&out, false, 2, "lost");
	write_bytes(out.bytes, out.n);
	assert_int_equal(ctx_gp_code_read(&code, PATH, false, NULL), CTX_OK);
	assert_int_equal(code.damaged, 1);
	assert_int_equal(code.n, 1);
	check(&code, 0x1000, 9, 0, "good");
	ctx_gp_code_deinit(&code);
	ctx_buf_deinit(&out);
	assert_int_equal(ctx_gp_code_read(&code, "not there", false, NULL), CTX_E_NOTFOUND);
	assert_int_equal(ctx_gp_code_read(&code, ".", false, NULL), CTX_E_FORMAT);
	ctx_gp_code_deinit(&code);
}

/* Whatever the bytes are: what is found lies in the file. */
static void test_gp_code__damaged_files_are_read_within_their_bounds(void **state)
{
	(void)state;
	for (unsigned seed = 0; seed < 3000; seed++) {
		struct ctx_gp_code code = {0};
		struct ctx_buf out = {0};

		srand(seed);
		for (unsigned i = 0; i < 4; i++) {
			put_load(&out, false, rand() % 8, (uint64_t)(rand() % 32));
			put_record(&out, false, (unsigned)(rand() % 5), "some bytes");
		}
		for (int flips = rand() % 6; flips > 0; flips--)
			out.bytes[(size_t)rand() % out.n] ^= (uint8_t)(1 << rand() % 8);
		write_bytes(out.bytes, out.n - (size_t)(rand() % 12));
		assert_int_equal(ctx_gp_code_read(&code, PATH, false, NULL), CTX_OK);
		for (uint64_t address = 0; address < 48; address++) {
			size_t n = 0;
			const uint8_t *bytes = ctx_gp_code_find(&code, address, 64, rand() % 8, &n);

			if (bytes == NULL)
				continue;
			assert_true(n != 0 && n <= 64);
			assert_true(bytes >= code.file.bytes && bytes + n <= code.file.bytes + code.file.n);
		}
		ctx_gp_code_deinit(&code);
		ctx_buf_deinit(&out);
	}
}

static void test_gp_code__no_memory_is_an_error(void **state)
{
	struct ctx_buf out = {0};
	enum ctx_status status;

	(void)state;
	put_load(&out, false, 0, 0x1000);
	put_record(&out, false, 2, "code");
	write_bytes(out.bytes, out.n);
	ctx_buf_deinit(&out);
	for (long nth = 0;; nth++) {
		struct ctx_gp_code code = {0};

		fail_after = nth;
		status = ctx_gp_code_read(&code, PATH, false, NULL);
		fail_after = -1;
		ctx_gp_code_deinit(&code);
		if (status == CTX_OK)
			break;
		assert_int_equal(status, CTX_E_NOMEM);
		assert_true(nth < 100);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_gp_code__bytes_are_those_of_the_place_and_the_time,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_gp_code__records_that_make_no_sense_end_the_file, setup,
						teardown),
		cmocka_unit_test_setup_teardown(test_gp_code__damaged_files_are_read_within_their_bounds,
						setup, teardown),
		cmocka_unit_test_setup_teardown(test_gp_code__no_memory_is_an_error, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
