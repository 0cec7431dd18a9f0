#include "base/arena.h"
#include "base/buf.h"
#include "base/compress.h"
#include "base/cursor.h"
#include "base/digits.h"
#include "base/fileio.h"
#include "base/map64.h"
#include "base/mem.h"
#include "base/near.h"
#include "base/shellword.h"
#include "base/strtab.h"
#include "base/xxh.h"
#include "chance.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static void test_base__varints_of_every_length_come_back(void **state)
{
	struct ctx_buf buf = {0};
	struct ctx_cursor cursor;

	(void)state;
	for (unsigned bits = 0; bits < 64; bits++) {
		ctx_buf_put_varint(&buf, (UINT64_C(1) << bits) - 1);
		ctx_buf_put_varint(&buf, UINT64_C(1) << bits);
		ctx_buf_put_zigzag(&buf, -(int64_t)(UINT64_C(1) << (bits % 63)));
	}
	ctx_buf_put_varint(&buf, UINT64_MAX);
	ctx_buf_put_zigzag(&buf, INT64_MIN);
	assert_int_equal(ctx_buf_check(&buf, NULL), CTX_OK);
	cursor = ctx_cursor_make(buf.bytes, buf.n);
	for (unsigned bits = 0; bits < 64; bits++) {
		assert_int_equal(ctx_cursor_get_varint(&cursor), (UINT64_C(1) << bits) - 1);
		assert_int_equal(ctx_cursor_get_varint(&cursor), UINT64_C(1) << bits);
		assert_int_equal(ctx_cursor_get_zigzag(&cursor), -(int64_t)(UINT64_C(1) << (bits % 63)));
	}
	assert_true(ctx_cursor_get_varint(&cursor) == UINT64_MAX);
	assert_true(ctx_cursor_get_zigzag(&cursor) == INT64_MIN);
	assert_int_equal(ctx_cursor_left(&cursor), 0);
	assert_false(cursor.failed);
	ctx_buf_deinit(&buf);
}

static void test_base__a_cursor_stops_at_the_end_and_stays_failed(void **state)
{
	const uint8_t overlong[] = {0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02, 0x01};
	const uint8_t cut[] = {0xff};
	struct ctx_cursor cursor = ctx_cursor_make(overlong, sizeof(overlong));

	(void)state;
	assert_int_equal(ctx_cursor_get_varint(&cursor), 0);
	assert_true(cursor.failed);
	assert_int_equal(ctx_cursor_get_u8(&cursor), 0);
	assert_ptr_equal(cursor.at, overlong);
	cursor = ctx_cursor_make(cut, sizeof(cut));
	ctx_cursor_get_varint(&cursor);
	assert_true(cursor.failed);
	cursor = ctx_cursor_make(cut, sizeof(cut));
	assert_null(ctx_cursor_get_bytes(&cursor, 2));
	assert_true(cursor.failed);
	cursor = ctx_cursor_make("\xff\xff\xff\xff\x10", 5);
	ctx_cursor_get_varint32(&cursor);
	assert_true(cursor.failed);
}

static void test_base__fixed_widths_are_little_endian(void **state)
{
	static const uint8_t expected[] = {0x02, 0x01, 0x06, 0x05, 0x04, 0x03, 8, 7, 6, 5, 4, 3, 2, 1};
	struct ctx_buf buf = {0};
	struct ctx_cursor cursor;

	(void)state;
	ctx_buf_put_u16(&buf, 0x0102);
	ctx_buf_put_u32(&buf, 0x03040506);
	ctx_buf_put_u64(&buf, UINT64_C(0x0102030405060708));
	assert_int_equal(buf.n, sizeof(expected));
	assert_memory_equal(buf.bytes, expected, sizeof(expected));
	cursor = ctx_cursor_make(buf.bytes, buf.n);
	assert_int_equal(ctx_cursor_get_u16(&cursor), 0x0102);
	assert_int_equal(ctx_cursor_get_u32(&cursor), 0x03040506);
	assert_true(ctx_cursor_get_u64(&cursor) == UINT64_C(0x0102030405060708));
	ctx_buf_deinit(&buf);
}

/* Against an array of pairs: the obvious slow map. */
static void test_base__a_map_agrees_with_a_list_of_pairs(void **state)
{
	enum { N = 3000 };
	uint64_t *keys = ctx_calloc(N, sizeof(*keys));
	struct ctx_map64 map = {0};

	(void)state;
	assert_non_null(keys);
	random_state = 12345;
	assert_int_equal(ctx_map64_get(&map, 7), CTX_MAP64_NONE);
	for (uint32_t i = 0; i < N; i++) {
		uint64_t key = next_random() % (i % 2 == 0 ? 500 : UINT64_MAX);
		uint32_t expected = CTX_MAP64_NONE;
		uint32_t *place;

		for (uint32_t j = 0; j < i; j++) {
			if (keys[j] == key) {
				expected = j;
				break;
			}
		}
		assert_int_equal(ctx_map64_get(&map, key), expected);
		keys[i] = key;
		place = ctx_map64_place(&map, key);
		assert_non_null(place);
		assert_int_equal(*place, expected);
		if (*place == CTX_MAP64_NONE)
			*place = i;
	}
	ctx_map64_clear(&map);
	assert_int_equal(ctx_map64_get(&map, keys[0]), CTX_MAP64_NONE);
	ctx_map64_deinit(&map);
	free(keys);
}

/* Few keys and many rounds: runs of slots are as long as they become, and wrap around. */
static void test_base__removed_keys_of_a_map_are_gone_and_all_others_stay(void **state)
{
	enum { KEYS = 60, ROUNDS = 20000 };
	uint32_t values[KEYS];
	struct ctx_map64 map = {0};
	size_t n = 0;

	(void)state;
	memset(values, 0xff, sizeof(values));
	random_state = 99;
	ctx_map64_remove(&map, 1);
	for (uint32_t round = 0; round < ROUNDS; round++) {
		uint64_t key = next_random() % KEYS;
		bool adds = next_random() % 2 != 0;

		if (adds)
			*ctx_map64_place(&map, key * 0x100000001u) = round;
		else
			ctx_map64_remove(&map, key * 0x100000001u);
		n += adds && values[key] == CTX_MAP64_NONE;
		n -= !adds && values[key] != CTX_MAP64_NONE;
		values[key] = adds ? round : CTX_MAP64_NONE;
		assert_int_equal(map.n, n);
		for (uint64_t i = 0; i < KEYS; i++)
			assert_int_equal(ctx_map64_get(&map, i * 0x100000001u), values[i]);
	}
	ctx_map64_deinit(&map);
}

static void test_base__equal_strings_get_equal_ids(void **state)
{
	struct ctx_strtab table = {0};
	char text[32];

	(void)state;
	for (int round = 0; round < 2; round++) {
		for (uint32_t i = 0; i < 2000; i++) {
			uint32_t id;

			snprintf(text, sizeof(text), "name %u", i);
			assert_int_equal(ctx_strtab_add_text(&table, text, &id, NULL), CTX_OK);
			assert_int_equal(id, i);
			assert_string_equal(ctx_strtab_get(&table, id), text);
		}
	}
	assert_int_equal(ctx_strtab_find(&table, "name 1234", 9), 1234);
	assert_int_equal(ctx_strtab_find(&table, "name 1234", 8), 123);
	assert_int_equal(ctx_strtab_find(&table, "name 2000", 9), UINT32_MAX);
	assert_int_equal(table.n, 2000);
	ctx_strtab_deinit(&table);
	assert_int_equal(ctx_strtab_find(&table, "name 1234", 9), UINT32_MAX);
}

static void test_base__an_arena_keeps_small_and_large_strings(void **state)
{
	struct ctx_arena arena = {0};
	char *large = ctx_arena_alloc(&arena, 1000000);
	char *texts[1000];

	(void)state;
	assert_non_null(large);
	memset(large, 'x', 1000000);
	for (int i = 0; i < 1000; i++) {
		char text[16];

		snprintf(text, sizeof(text), "%d", i);
		texts[i] = ctx_arena_strdup(&arena, text);
		assert_non_null(texts[i]);
	}
	for (int i = 0; i < 1000; i++)
		assert_int_equal(atoi(texts[i]), i);
	ctx_arena_deinit(&arena);
}

static void test_base__a_frame_that_claims_more_than_wanted_is_refused(void **state)
{
	struct ctx_compressor compressor = {0};
	struct ctx_buf frame = {0}, back = {0};
	struct ctx_err err = {0};
	char text[10000];

	(void)state;
	memset(text, 'a', sizeof(text));
	assert_int_equal(ctx_compress(&compressor, 1, (struct ctx_bytes){text, sizeof(text)}, &frame, &err),
			 CTX_OK);
	assert_true(frame.n < 100);
	assert_int_equal(
		ctx_decompress(&compressor, (struct ctx_bytes){frame.bytes, frame.n}, 10, &back, &err),
		CTX_E_FORMAT);
	assert_int_equal(ctx_decompress(&compressor, (struct ctx_bytes){frame.bytes, frame.n},
					sizeof(text) + 1, &back, &err),
			 CTX_E_FORMAT);
	ctx_buf_clear(&back);
	assert_int_equal(ctx_decompress(&compressor, (struct ctx_bytes){frame.bytes, frame.n}, sizeof(text),
					&back, &err),
			 CTX_OK);
	assert_memory_equal(back.bytes, text, sizeof(text));
	frame.bytes[frame.n / 2] ^= 0x55;
	ctx_buf_clear(&back);
	assert_int_not_equal(ctx_decompress(&compressor, (struct ctx_bytes){frame.bytes, frame.n / 2},
					    sizeof(text), &back, &err),
			     CTX_OK);
	ctx_buf_deinit(&frame);
	ctx_buf_deinit(&back);
	ctx_compressor_deinit(&compressor);
}

static void test_base__an_error_is_one_line_with_its_context_in_front(void **state)
{
	struct ctx_err err = {0};

	(void)state;
	assert_int_equal(ctx_err_set(&err, CTX_E_FORMAT, "offset %d: a\nb\x1b[31m", 7), CTX_E_FORMAT);
	assert_int_equal(ctx_err_prefix(&err, CTX_E_FORMAT, "%s", "run.er/profile"), CTX_E_FORMAT);
	assert_string_equal(err.msg, "run.er/profile: offset 7: a?b?[31m");
	assert_int_equal(ctx_err_set(NULL, CTX_E_IO, "x"), CTX_E_IO);
}

static void test_base__a_replaced_file_is_whole_or_the_old_one(void **state)
{
	char directory[] = "/tmp/ctx-test-XXXXXX";
	struct ctx_err err = {0};
	struct ctx_buf read = {0};
	char *path;

	(void)state;
	assert_non_null(mkdtemp(directory));
	path = ctx_path_join(directory, "file");
	assert_non_null(path);
	assert_int_equal(ctx_file_replace(path, "one", 3, &err), CTX_OK);
	assert_int_equal(ctx_file_replace(path, "three", 5, &err), CTX_OK);
	assert_int_equal(ctx_file_read(path, 100, &read, &err), CTX_OK);
	assert_int_equal(read.n, 5);
	assert_memory_equal(read.bytes, "three", 5);
	assert_int_equal(ctx_file_read(path, 4, &read, &err), CTX_E_LIMIT);
	assert_int_equal(ctx_file_read("/nonexistent/file", 4, &read, &err), CTX_E_NOTFOUND);
	assert_int_equal(ctx_file_replace("/nonexistent/file", "", 0, &err), CTX_E_NOTFOUND);
	assert_int_equal(ctx_file_replace(directory, "", 0, &err), CTX_E_ARG);
	assert_int_equal(ctx_dir_remove(directory, &err), CTX_OK);
	assert_int_not_equal(access(directory, F_OK), 0);
	ctx_buf_deinit(&read);
	free(path);
}

static void test_base__only_plain_files_are_replaced(void **state)
{
	char directory[] = "/tmp/ctx-test-XXXXXX";
	struct ctx_buf back = {0};
	struct stat info;
	char *file, *link_name, *fifo;
	char byte;
	int reader;

	(void)state;
	assert_non_null(mkdtemp(directory));
	file = ctx_path_join(directory, "file");
	link_name = ctx_path_join(directory, "link");
	fifo = ctx_path_join(directory, "fifo");
	assert_int_equal(ctx_file_replace(file, "old", 3, NULL), CTX_OK);
	assert_int_equal(chmod(file, 0600), 0);
	assert_int_equal(symlink(file, link_name), 0);
	assert_int_equal(ctx_file_replace(link_name, "new", 3, NULL), CTX_OK);
	assert_int_equal(lstat(link_name, &info), 0);
	assert_true(S_ISLNK(info.st_mode));
	assert_int_equal(stat(file, &info), 0);
	assert_int_equal(info.st_mode & 07777, 0600);
	assert_int_equal(ctx_file_read(file, 100, &back, NULL), CTX_OK);
	assert_memory_equal(back.bytes, "new", 3);
	assert_int_equal(mkfifo(fifo, 0600), 0);
	reader = open(fifo, O_RDONLY | O_NONBLOCK);
	assert_true(reader >= 0);
	assert_int_equal(ctx_file_replace(fifo, "x", 1, NULL), CTX_OK);
	assert_int_equal(read(reader, &byte, 1), 1);
	assert_int_equal(byte, 'x');
	assert_int_equal(ctx_file_read(fifo, 100, &back, NULL), CTX_E_FORMAT);
	close(reader);
	assert_int_equal(ctx_dir_remove(directory, NULL), CTX_OK);
	ctx_buf_deinit(&back);
	free(file);
	free(link_name);
	free(fifo);
}

static void test_base__only_plain_files_are_opened(void **state)
{
	char directory[] = "/tmp/ctx_test.XXXXXX";
	uint64_t size = 0;
	char *file, *fifo, bytes[8];
	FILE *stream;
	int fd;

	(void)state;
	assert_non_null(mkdtemp(directory));
	file = ctx_path_join(directory, "file");
	fifo = ctx_path_join(directory, "fifo");
	assert_int_equal(ctx_file_replace(file, "three", 5, NULL), CTX_OK);
	fd = ctx_file_open_plain(file, &size);
	assert_true(fd >= 0);
	assert_int_equal(size, 5);
	close(fd);
	stream = ctx_file_open_plain_stream(file);
	assert_non_null(stream);
	assert_int_equal(fread(bytes, 1, sizeof(bytes), stream), 5);
	fclose(stream);
	assert_int_equal(mkfifo(fifo, 0600), 0); /* nobody writes to it */
	assert_int_equal(ctx_file_open_plain(fifo, &size), -1);
	assert_int_equal(errno, EINVAL);
	errno = 0;
	assert_null(ctx_file_open_plain_stream(directory));
	assert_int_equal(errno, EINVAL);
	assert_null(ctx_file_open_plain_stream("/nonexistent/file"));
	assert_int_equal(errno, ENOENT);
	assert_int_equal(ctx_dir_remove(directory, NULL), CTX_OK);
	free(file);
	free(fifo);
}

static void test_base__growing_past_the_address_space_is_refused(void **state)
{
	uint64_t *items = NULL;
	size_t cap = 0;

	(void)state;
	assert_int_equal(ctx_grow(&items, &cap, SIZE_MAX / 4, NULL), CTX_E_NOMEM);
	assert_int_equal(ctx_grow(&items, &cap, SIZE_MAX, NULL), CTX_E_NOMEM);
	assert_int_equal(cap, 0);
	assert_null(items);
}

static void test_base__checksums_are_those_of_xxhsum(void **state)
{
	(void)state;
	/* printf '' | xxhsum -H3; printf 'ctxrec' | xxhsum -H3 */
	assert_true(ctx_xxh3("", 0) == UINT64_C(0x2d06800538d394c2));
}

/* What a shell makes of it again is asked of the shell. */
static void test_shellword__a_shell_reads_the_same_bytes(void **state)
{
	static const char *const words[] = {
		"./app",	  "two words",	 "it's",       "",     "-x=1",
		"$HOME",	  "a;b|c&d",	 "*?[a]",      "~",    "!",
		"tab\tand\nline", "back\\slash", "\"quoted\"", "''",   "#",
		"\xff\xfe",	  "{a,b}",	 "`id`",       "<>()", "a=b:c/d,e@f%g^h+i",
	};
	char line[64];

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(words); i++) {
		struct ctx_buf command = {0};
		FILE *shell;
		size_t n;

		ctx_buf_put_text(&command, "printf %s ");
		ctx_shellword_put(&command, words[i]);
		ctx_buf_put_u8(&command, 0);
		assert_int_equal(ctx_buf_check(&command, NULL), CTX_OK);
		shell = popen((char *)command.bytes, "r");
		assert_non_null(shell);
		n = fread(line, 1, sizeof(line) - 1, shell);
		line[n] = '\0';
		assert_int_equal(pclose(shell), 0);
		assert_string_equal(line, words[i]);
		/* What needs no quotes has none: people read it. */
		if (i == 0 || i == 4 || i + 1 == CTX_COUNT_OF(words))
			assert_null(strchr((char *)command.bytes, '\''));
		ctx_buf_deinit(&command);
	}
}

static void test_digits__every_byte_is_a_digit_or_none(void **state)
{
	static const char digits[] = "0123456789abcdef";

	(void)state;
	for (int c = 0; c < 256; c++) {
		const char *place = c != 0 ? strchr(digits, tolower(c)) : NULL;

		assert_int_equal(ctx_digit((char)c), place != NULL ? place - digits : -1);
	}
}

static void test_digits__a_number_ends_at_its_last_digit_and_fits_into_64_bits(void **state)
{
	static const struct {
		const char *text;
		unsigned base;
		bool good;
		uint64_t value;
		size_t length;
	} cases[] = {{"0", 10, true, 0, 1},
		     {"12a", 10, true, 12, 2},
		     {"12a", 16, true, 0x12a, 3},
		     {"FFffg", 16, true, 0xffff, 4},
		     {"18446744073709551615 ", 10, true, UINT64_MAX, 20},
		     {"18446744073709551616", 10, false, 0, 0},
		     {"ffffffffffffffff", 16, true, UINT64_MAX, 16},
		     {"10000000000000000", 16, false, 0, 0},
		     {"", 10, false, 0, 0},
		     {"-1", 10, false, 0, 0},
		     {"x", 16, false, 0, 0}};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		const char *at = cases[i].text;
		uint64_t value;

		assert_int_equal(ctx_digits_take(&at, cases[i].base, &value), cases[i].good);
		if (!cases[i].good)
			continue;
		assert_int_equal(value, cases[i].value);
		assert_int_equal(at - cases[i].text, cases[i].length);
	}
}

static void test_digits__seconds_have_up_to_nine_decimals(void **state)
{
	static const struct {
		const char *text;
		bool good;
		uint64_t ns;
	} cases[] = {{"0", true, 0},
		     {"12.5", true, 12500000000},
		     {"0.000000001", true, 1},
		     {"1.0000000001", false, 0},
		     {"4611686018", true, 4611686018000000000},
		     {"4611686019", false, 0},
		     {"1.", false, 0},
		     {".5", false, 0},
		     {"1.5s", false, 0},
		     {"-1", false, 0},
		     {"", false, 0}};

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		uint64_t ns;

		assert_int_equal(ctx_seconds_parse(cases[i].text, &ns), cases[i].good);
		if (cases[i].good)
			assert_int_equal(ns, cases[i].ns);
	}
}

static void list_near(const char *text, char *out, size_t size)
{
	static const char *const names[] = {"functions", "callers-callees", "calltree",
					    "heap",	 "heapstat",	    "work<int>(int)"};
	struct ctx_near near = {0};

	for (size_t i = 0; i < CTX_COUNT_OF(names); i++)
		ctx_near_consider(&near, names[i], strlen(names[i]), text, strlen(text));
	ctx_near_list(&near, out, size);
}

static void test_near__finds_names_that_contain_the_text_or_are_similar(void **state)
{
	static const struct {
		const char *text, *wanted;
	} cases[] = {{"heap", "'heap', 'heapstat'"},
		     {"heapst", "'heapstat', 'heap'"},
		     {"fonctions", "'functions'"},
		     {"CALLTREE", "'calltree'"},
		     {"call", "'calltree', 'callers-callees'"},
		     {"wurk", "'work<int>(int)'"},
		     {"qqq", ""},
		     {"", ""}};
	char out[128], small[8];

	(void)state;
	for (size_t i = 0; i < CTX_COUNT_OF(cases); i++) {
		list_near(cases[i].text, out, sizeof(out));
		assert_string_equal(out, cases[i].wanted);
	}
	list_near("heap", small, sizeof(small));
	assert_string_equal(small, "'heap',");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_digits__every_byte_is_a_digit_or_none),
		cmocka_unit_test(test_digits__a_number_ends_at_its_last_digit_and_fits_into_64_bits),
		cmocka_unit_test(test_digits__seconds_have_up_to_nine_decimals),
		cmocka_unit_test(test_near__finds_names_that_contain_the_text_or_are_similar),
		cmocka_unit_test(test_base__varints_of_every_length_come_back),
		cmocka_unit_test(test_base__a_cursor_stops_at_the_end_and_stays_failed),
		cmocka_unit_test(test_base__fixed_widths_are_little_endian),
		cmocka_unit_test(test_base__a_map_agrees_with_a_list_of_pairs),
		cmocka_unit_test(test_base__removed_keys_of_a_map_are_gone_and_all_others_stay),
		cmocka_unit_test(test_base__equal_strings_get_equal_ids),
		cmocka_unit_test(test_base__an_arena_keeps_small_and_large_strings),
		cmocka_unit_test(test_base__a_frame_that_claims_more_than_wanted_is_refused),
		cmocka_unit_test(test_base__an_error_is_one_line_with_its_context_in_front),
		cmocka_unit_test(test_base__a_replaced_file_is_whole_or_the_old_one),
		cmocka_unit_test(test_base__only_plain_files_are_replaced),
		cmocka_unit_test(test_base__only_plain_files_are_opened),
		cmocka_unit_test(test_base__growing_past_the_address_space_is_refused),
		cmocka_unit_test(test_base__checksums_are_those_of_xxhsum),
		cmocka_unit_test(test_shellword__a_shell_reads_the_same_bytes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
