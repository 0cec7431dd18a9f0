/*
 * DWARF line information, compared with sources whose lines are known. flow.symbols_same tests
 * functions, files and lines of a large program.
 */
#include "base/buf.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "symbols/source_map.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "chance.h"
#include "failing_malloc.h"
#include "shell_commands.h"
#include "test_folder.h"

#define FILE_BYTES_MAX ((size_t)16 << 20)

/* Line 1 is inlined into line 2, and that into f, at line 3; g at line 4 has no inlined calls. */
static const char source[] =
	"static inline __attribute__((always_inline)) int one(int a) { return a / 7; }\n"
	"static inline __attribute__((always_inline)) int two(int a) { return one(a) + 1; }\n"
	"int f(int a) { return two(a); }\n"
	"int g(int a) { return a * 3; }\n";

static struct ctx_source_map *open_map(const char *path)
{
	const struct ctx_file_request request = {path, "", "", "", "", NULL};
	struct ctx_source_map *map = NULL;

	assert_int_equal(ctx_source_map_open(&request, &map, NULL), CTX_OK);
	return map;
}

static void make_object(const char *name, const char *options)
{
	write_text("lines.c", source);
	run("gcc -O2 -shared -fPIC -nostdlib -Wl,--build-id %s -o %s lines.c", options, name);
}

static void check_inlined(const char *path)
{
	struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX];
	struct ctx_source_map *map = open_map(path);
	uint64_t f = address_of(path, "f");
	size_t deepest = 0;
	size_t n;

	for (uint64_t at = f; at < f + 12; at++) {
		assert_int_equal(ctx_source_map_find(map, at, frames, &n, NULL), CTX_OK);
		assert_true(n >= 1 && n <= 3);
		deepest = n > deepest ? n : deepest;
		assert_null(frames[n - 1].function);
		assert_int_equal(frames[n - 1].line, 3);
		if (n < 3)
			continue;
		assert_string_equal(frames[0].function, "one");
		assert_string_equal(frames[0].linkage_name, "one");
		assert_int_equal(frames[0].line, 1);
		assert_string_equal(frames[1].function, "two");
		assert_int_equal(frames[1].line, 2);
		assert_non_null(strstr(frames[0].file, "/lines.c"));
		assert_int_equal(frames[0].file[0], '/');
		assert_string_equal(frames[0].file, frames[2].file);
	}
	assert_int_equal(deepest, 3);
	assert_int_equal(ctx_source_map_find(map, address_of(path, "g"), frames, &n, NULL), CTX_OK);
	assert_int_equal(n, 1);
	assert_int_equal(frames[0].line, 4);
	assert_int_equal(ctx_source_map_find(map, 1, frames, &n, NULL), CTX_OK);
	assert_int_equal(n, 0);
	ctx_source_map_close(map);
}

static void test_source_map__inlined_calls_are_frames_with_the_lines_of_their_calls(void **state)
{
	static const char *const options[] = {"-gdwarf-2", "-gdwarf-3", "-gdwarf-4", "-gdwarf-5", "-g -gz"};

	(void)state;
	need_command("gcc");
	for (size_t i = 0; i < CTX_COUNT_OF(options); i++) {
		make_object("inlined.so", options[i]);
		check_inlined("inlined.so");
	}
}

struct seen {
	uint64_t begin, last;
	size_t n;
	uint32_t lines; /* a bit for each */
};

static enum ctx_status see(void *context, const struct ctx_source_line *line, struct ctx_err *err)
{
	struct seen *seen = context;

	(void)err;
	assert_true(seen->n == 0 ? line->address == seen->begin : line->address > seen->last);
	assert_true((line->file == NULL) == (line->line == 0));
	seen->last = line->address;
	seen->lines |= 1u << line->line;
	seen->n++;
	return CTX_OK;
}

static void test_source_map__lines_cover_a_range_from_its_first_byte(void **state)
{
	struct seen whole = {0}, part = {0}, nowhere = {.begin = 1};
	struct ctx_source_map *map;

	(void)state;
	need_command("gcc");
	make_object("ranges.so", "-g");
	map = open_map("ranges.so");
	part.begin = address_of("ranges.so", "g") + 1;
	assert_int_equal(ctx_source_map_lines(map, (struct ctx_source_range){0, 1 << 20}, see, &whole, NULL),
			 CTX_OK);
	assert_int_equal(whole.lines, 0x1f); /* 0: what lies around the code */
	assert_int_equal(ctx_source_map_lines(map, (struct ctx_source_range){part.begin, part.begin + 1}, see,
					      &part, NULL),
			 CTX_OK);
	assert_int_equal(part.n, 1);
	assert_int_equal(part.lines, 1u << 4);
	assert_int_equal(ctx_source_map_lines(map, (struct ctx_source_range){1, 2}, see, &nowhere, NULL),
			 CTX_OK);
	assert_int_equal(nowhere.n, 1);
	assert_int_equal(nowhere.lines, 1);
	assert_int_equal(ctx_source_map_lines(map, (struct ctx_source_range){2, 2}, see, &nowhere, NULL),
			 CTX_OK);
	assert_int_equal(nowhere.n, 1);
	ctx_source_map_close(map);
}

static void test_source_map__names_without_a_linkage_name_have_their_scopes(void **state)
{
	struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX];
	struct ctx_source_map *map;
	bool seen = false;

	(void)state;
	need_command("g++");
	write_text("scopes.cc", "namespace { namespace deep { struct box { int v; "
				"__attribute__((always_inline)) int get() const { return v / 3; } }; } }\n"
				"int f(int a) { deep::box b{a}; return b.get(); }\n");
	run("g++ -O2 -g -shared -fPIC -nostdlib -o scopes.so scopes.cc");
	map = open_map("scopes.so");
	for (uint64_t at = address_of("scopes.so", "_Z1fi"), end = at + 12; at < end; at++) {
		size_t n;

		assert_int_equal(ctx_source_map_find(map, at, frames, &n, NULL), CTX_OK);
		if (n < 2)
			continue;
		assert_string_equal(frames[0].function, "(anonymous namespace)::deep::box::get");
		seen = true;
	}
	assert_true(seen);
	ctx_source_map_close(map);
}

/* 70 calls, each inlined into the next: of 71 frames the seven innermost are left out. */
static void test_source_map__of_too_many_inlined_calls_the_innermost_are_left_out(void **state)
{
	struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX];
	struct ctx_source_map *map;
	FILE *file = fopen("deep.c", "we");
	size_t n, most = 0;

	(void)state;
	need_command("gcc");
	assert_non_null(file);
	for (int i = 0; i < 70; i++)
		fprintf(file,
			"static inline __attribute__((always_inline)) int f%d(int a) { return %s%d(a); }\n",
			i, i == 0 ? "a / 7 + (int)sizeof" : "f", i == 0 ? 0 : i - 1);
	fprintf(file, "int f(int a) { return f69(a); }\n");
	assert_int_equal(fclose(file), 0);
	run("sed -i '1s/.*/static inline __attribute__((always_inline)) int f0(int a) { return a \\/ 7; }/' "
	    "deep.c");
	run("gcc -O2 -g -shared -fPIC -nostdlib -o deep.so deep.c");
	map = open_map("deep.so");
	for (uint64_t at = address_of("deep.so", "f"), end = at + 12; at < end; at++) {
		assert_int_equal(ctx_source_map_find(map, at, frames, &n, NULL), CTX_OK);
		assert_true(n >= 1 && n <= CTX_SOURCE_FRAMES_MAX);
		assert_null(frames[n - 1].function);
		assert_int_equal(frames[n - 1].line, 71);
		if (n < CTX_SOURCE_FRAMES_MAX)
			continue;
		most = n;
		assert_string_equal(frames[n - 2].function, "f69");
		assert_string_equal(frames[0].function, "f7");
		assert_int_equal(frames[0].line, 8);
	}
	assert_int_equal(most, CTX_SOURCE_FRAMES_MAX);
	ctx_source_map_close(map);
}

static void expect_none(const char *path, const char *reason)
{
	struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX];
	struct ctx_source_map *map = open_map(path);
	struct seen seen = {0};
	size_t n = 1;

	if (strncmp(ctx_source_map_origin(map), "none: ", 6) != 0 ||
	    strstr(ctx_source_map_origin(map), reason) == NULL)
		fail_msg("%s: origin is '%s'", path, ctx_source_map_origin(map));
	assert_int_equal(ctx_source_map_find(map, 0x1000, frames, &n, NULL), CTX_OK);
	assert_int_equal(n, 0);
	assert_int_equal(ctx_source_map_lines(map, (struct ctx_source_range){0, 4096}, see, &seen, NULL),
			 CTX_OK);
	assert_int_equal(seen.n, 1);
	ctx_source_map_close(map);
}

static void test_source_map__no_debug_information_makes_an_empty_map_with_a_reason(void **state)
{
	(void)state;
	need_command("gcc");
	make_object("stripped.so", "-s");
	write_text("text", "no object");
	expect_none("stripped.so", "no debug information");
	expect_none("text", "");
	expect_none("missing", "");
}

/* The bytes after an unterminated last string do not belong to the section. */
static void test_source_map__unterminated_strings_are_refused(void **state)
{
	static const char *const sections[] = {"debug_str", "debug_line_str"};

	(void)state;
	need_command("gcc");
	for (size_t i = 0; i < CTX_COUNT_OF(sections); i++) {
		make_object("strings.so", "-g -gdwarf-5");
		run("objcopy --dump-section .%s=strings strings.so", sections[i]);
		run("truncate -s -1 strings && objcopy --update-section .%s=strings strings.so", sections[i]);
		expect_none("strings.so", sections[i]);
	}
}

/* The name of a split unit is from the file: a pipe would block for ever. */
static void test_source_map__only_regular_files_are_opened_as_split_units(void **state)
{
	struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX];
	struct ctx_source_map *map;
	size_t n;

	(void)state;
	need_command("gcc");
	make_object("split.so", "-g -gsplit-dwarf");
	run("rm -f *.dwo && for name in $(strings -a split.so | grep '[.]dwo$'); do mkfifo \"$name\"; done");
	map = open_map("split.so");
	assert_int_equal(ctx_source_map_find(map, address_of("split.so", "g"), frames, &n, NULL), CTX_OK);
	assert_int_equal(n, 1); /* the skeleton has lines */
	assert_int_equal(frames[0].line, 4);
	ctx_source_map_close(map);
}

/* Every byte of the debug information changed, one at a time: any result but a crash. */
static void test_source_map__damaged_debug_information_does_no_harm(void **state)
{
	struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX];
	struct ctx_buf bytes = {0};
	uint64_t f;

	(void)state;
	need_command("gcc");
	make_object("damaged.so", "-g");
	f = address_of("damaged.so", "f");
	assert_int_equal(ctx_file_read("damaged.so", FILE_BYTES_MAX, &bytes, NULL), CTX_OK);
	for (size_t i = 64; i < bytes.n; i += 3) {
		struct ctx_source_map *map;
		uint8_t saved = bytes.bytes[i];
		size_t n;

		bytes.bytes[i] = (uint8_t)next_random();
		assert_int_equal(ctx_source_map_open_bytes(bytes.bytes, bytes.n, &map, NULL), CTX_OK);
		for (uint64_t at = f; at < f + 16; at++)
			assert_int_equal(ctx_source_map_find(map, at, frames, &n, NULL), CTX_OK);
		ctx_source_map_close(map);
		bytes.bytes[i] = saved;
	}
	ctx_buf_deinit(&bytes);
}

static void test_source_map__memory_that_runs_out_is_a_status_and_not_the_end(void **state)
{
	struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX];
	size_t failures = 0, n = 0;
	uint64_t f;
	bool done = false;

	(void)state;
	need_command("gcc");
	make_object("memory.so", "-g");
	f = address_of("memory.so", "f");
	for (long after = 0; !done; after++) {
		const struct ctx_file_request request = {"memory.so", "", "", "", "", NULL};
		struct ctx_source_map *map = NULL;
		enum ctx_status status;

		assert_true(after < 100000);
		fail_after = after;
		status = ctx_source_map_open(&request, &map, NULL);
		for (uint64_t at = f; at < f + 8 && status == CTX_OK; at++)
			status = ctx_source_map_find(map, at, frames, &n, NULL);
		done = fail_after >= 0;
		fail_after = -1;
		assert_true(status == CTX_OK || status == CTX_E_NOMEM);
		failures += status == CTX_E_NOMEM;
		/* The same map works once memory is available again. */
		if (map != NULL && strncmp(ctx_source_map_origin(map), "none", 4) != 0) {
			assert_int_equal(ctx_source_map_find(map, f, frames, &n, NULL), CTX_OK);
			assert_true(n > 0);
		}
		ctx_source_map_close(map);
	}
	assert_true(failures > 10);
}

static int go_to_folder(void **state)
{
	return make_folder(state) == 0 && chdir(folder) == 0 ? 0 : -1;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_map__inlined_calls_are_frames_with_the_lines_of_their_calls),
		cmocka_unit_test(test_source_map__lines_cover_a_range_from_its_first_byte),
		cmocka_unit_test(test_source_map__names_without_a_linkage_name_have_their_scopes),
		cmocka_unit_test(test_source_map__of_too_many_inlined_calls_the_innermost_are_left_out),
		cmocka_unit_test(test_source_map__no_debug_information_makes_an_empty_map_with_a_reason),
		cmocka_unit_test(test_source_map__unterminated_strings_are_refused),
		cmocka_unit_test(test_source_map__only_regular_files_are_opened_as_split_units),
		cmocka_unit_test(test_source_map__damaged_debug_information_does_no_harm),
		cmocka_unit_test(test_source_map__memory_that_runs_out_is_a_status_and_not_the_end),
	};

	return cmocka_run_group_tests(tests, go_to_folder, remove_folder);
}
