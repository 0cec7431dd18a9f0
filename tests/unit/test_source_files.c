/*
 * Source files of addresses, from the installed compiler's output, in every version of DWARF:
 * compared with objdump's output and with the known program. Without a compiler these tests are
 * skipped.
 */
#include "symbols/source_files.h"

#include "base/fileio.h"
#include "base/strtab.h"
#include "failing_malloc.h"
#include "shell_commands.h"
#include "test_folder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static const char *const flavours[] = {
	"-gdwarf-2",	       "-gdwarf-3",	      "-gdwarf-4",	    "-gdwarf-5",
	"-gdwarf-4 -gdwarf64", "-gdwarf-5 -gdwarf64", "-gdwarf-4 -gz=zlib", "-gdwarf-5 -gz=zlib-gnu"};

static int make_sources(void **state)
{
	if (make_folder(state) != 0)
		return -1;
	run("mkdir %s/sub && cd %s && printf '%%s\\n' '#include \"sub/hot.h\"' '#include \"cold.h\"' "
	    "'int main(int n, char **v) { (void)v; return hot(n) + cold(n); }' >main.c && "
	    "printf '%%s\\n' 'static __attribute__((noinline)) int hot(int n) { volatile int k = n; "
	    "return k + 1; }' >sub/hot.h && "
	    "printf '%%s\\n' 'static __attribute__((noinline)) int cold(int n) { volatile int k = n; "
	    "return k * 3; }' >cold.h",
	    folder, folder);
	return 0;
}

/* Compiles with these options to prog in the folder. */
static void compile(const char *options)
{
	if (system("cc --version >/dev/null 2>&1 && objdump --version >/dev/null 2>&1") != 0) {
		print_message("skipped: no cc or objdump here\n");
		skip();
	}
	run("cd %s && cc %s -O1 -o prog main.c 2>cc.txt", folder, options);
}

static enum ctx_status keep_path(void *context, const char *path, struct ctx_err *err)
{
	uint32_t id;

	return ctx_strtab_add_text(context, path, &id, err);
}

/* Of the program in the folder. */
static struct ctx_source_files_request request_of(const char *build_id, const char *debug_root)
{
	return (struct ctx_source_files_request){.object = {.path = in_folder("prog"),
							    .build_id = build_id,
							    .archive = "",
							    .debug_root = debug_root,
							    .symfs = ""}};
}

static void list_all(struct ctx_strtab *paths)
{
	struct ctx_source_files_request request = request_of("", "/nowhere");
	struct ctx_err err = {0};

	request.all = true;
	if (ctx_source_files(&request, keep_path, paths, &err) != CTX_OK)
		fail_msg("%s", err.msg);
}

/* The program's text lies in the file as it is mapped: offsets are addresses. */
static void list_at(struct ctx_strtab *paths, uint64_t offset)
{
	struct ctx_source_files_request request = request_of("", "/nowhere");
	struct ctx_err err = {0};

	request.offsets = &offset;
	request.n_offsets = 1;
	if (ctx_source_files(&request, keep_path, paths, &err) != CTX_OK)
		fail_msg("%s", err.msg);
}

static enum ctx_status try_request(const struct ctx_source_files_request *request)
{
	struct ctx_strtab paths = {0};
	enum ctx_status status = ctx_source_files(request, keep_path, &paths, NULL);

	ctx_strtab_deinit(&paths);
	return status;
}

static enum ctx_status try_files(const char *build_id, const char *debug_root)
{
	struct ctx_source_files_request request = request_of(build_id, debug_root);

	request.all = true;
	return try_request(&request);
}

static bool has(const struct ctx_strtab *paths, const char *name)
{
	const char *path = in_folder("%s", name);

	return ctx_strtab_find(paths, path, strlen(path)) != UINT32_MAX;
}

static void test_source_files__all_files_are_those_that_objdump_decodes(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(flavours) / sizeof(*flavours); i++) {
		struct ctx_strtab paths = {0}, names = {0};
		char line[512];
		FILE *pipe;
		uint32_t id;

		compile(flavours[i]);
		list_all(&paths);
		for (uint32_t k = 0; k < paths.n; k++)
			assert_int_equal(ctx_strtab_add_text(&names, ctx_path_base(ctx_strtab_get(&paths, k)),
							     &id, NULL),
					 CTX_OK);
		snprintf(line, sizeof(line),
			 "objdump --dwarf=decodedline %s/prog | awk '$3 ~ /^0x/ && $2 ~ /^[0-9]+$/ { print "
			 "$1 }' | "
			 "sort -u",
			 folder);
		pipe = popen(line, "r");
		assert_non_null(pipe);
		for (id = 0; fgets(line, sizeof(line), pipe) != NULL; id++) {
			line[strcspn(line, "\n")] = '\0';
			if (ctx_strtab_find(&names, line, strlen(line)) == UINT32_MAX)
				fail_msg("%s: %s is not there", flavours[i], line);
		}
		pclose(pipe);
		assert_int_equal(id, names.n);
		assert_true(id >= 3);
		ctx_strtab_deinit(&paths);
		ctx_strtab_deinit(&names);
	}
}

static void test_source_files__only_files_of_the_places_are_returned_with_directories(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(flavours) / sizeof(*flavours); i++) {
		struct ctx_strtab paths = {0};

		compile(flavours[i]);
		list_at(&paths, address_of(in_folder("prog"), "hot") + 2);
		assert_int_equal(paths.n, 1);
		assert_true(has(&paths, "sub/hot.h"));
		list_at(&paths, address_of(in_folder("prog"), "cold"));
		assert_int_equal(paths.n, 2);
		assert_true(has(&paths, "cold.h"));
		list_at(&paths, 1); /* in no code at all */
		list_at(&paths, UINT64_MAX);
		assert_int_equal(paths.n, 2);
		ctx_strtab_deinit(&paths);
	}
}

static void test_source_files__paths_are_without_dots_but_for_those_that_links_decide(void **state)
{
	(void)state;
	for (int version = 2; version <= 5; version++) {
		struct ctx_strtab paths = {0};

		compile("-g");
		run("cd %s && cc -gdwarf-%d -O1 -o prog .//./main.c 2>cc.txt", folder, version);
		list_at(&paths, address_of(in_folder("prog"), "main"));
		assert_int_equal(paths.n, 1);
		assert_true(has(&paths, "main.c"));
		run("cd %s/sub && cc -gdwarf-%d -O1 -o ../prog ../main.c 2>../cc.txt", folder, version);
		list_at(&paths, address_of(in_folder("prog"), "main"));
		assert_true(has(&paths, "sub/../main.c"));
		ctx_strtab_deinit(&paths);
	}
}

static void test_source_files__a_separate_file_is_used_when_it_is_of_the_same_build(void **state)
{
	const char *root = in_folder("root");

	(void)state;
	compile("-g -Wl,--build-id=none");
	run("cd %s && objcopy --only-keep-debug prog prog.debug && objcopy --strip-debug "
	    "--add-gnu-debuglink=prog.debug prog",
	    folder);
	assert_int_equal(try_files("", "/nowhere"), CTX_OK);
	run("printf x >>%s/prog.debug", folder); /* the checksum is another one now */
	assert_int_equal(try_files("", "/nowhere"), CTX_E_NOTFOUND);

	compile("-g -Wl,--build-id=0x0123456789abcdef");
	run("cd %s && mkdir -p root/.build-id/01 && objcopy --only-keep-debug prog "
	    "root/.build-id/01/23456789abcdef.debug && objcopy --strip-debug prog",
	    folder);
	assert_int_equal(try_files("", "/nowhere"), CTX_E_NOTFOUND);
	assert_int_equal(try_files("ff", "/nowhere"), CTX_E_NOTFOUND);
	assert_int_equal(try_files("0123456789abcdef", root), CTX_OK);
	compile("-g -Wl,--build-id=0xfedcba9876543210"); /* the file there is of another build */
	run("cd %s && objcopy --strip-debug prog && mkdir -p root/.build-id/fe && mv "
	    "root/.build-id/01/23456789abcdef.debug root/.build-id/fe/dcba9876543210.debug",
	    folder);
	assert_int_equal(try_files("", root), CTX_E_NOTFOUND);
}

static void test_source_files__damage_only_loses_names(void **state)
{
	struct ctx_buf original = {0};
	const char *path = in_folder("prog");
	uint32_t seed = 1;

	(void)state;
	for (size_t i = 0; i < 2; i++) {
		compile(i == 0 ? "-gdwarf-4" : "-gdwarf-5");
		ctx_buf_clear(&original);
		assert_int_equal(ctx_file_read(path, (size_t)1 << 20, &original, NULL), CTX_OK);
		for (int round = 0; round < 400; round++) {
			size_t n = round % 4 == 0 ? original.n * (size_t)round / 400 : original.n;
			uint8_t *copy = __real_malloc(original.n);
			enum ctx_status status;

			assert_non_null(copy);
			memcpy(copy, original.bytes, original.n);
			for (int k = 0; k < 40 && round % 4 != 0; k++) {
				seed = seed * 1664525 + 1013904223;
				copy[64 + (seed >> 8) % (original.n - 64)] = (uint8_t)(seed >> 3);
			}
			assert_int_equal(ctx_file_replace(path, copy, n, NULL), CTX_OK);
			status = try_files("", "/nowhere");
			assert_true(status == CTX_OK || status == CTX_E_NOTFOUND);
			free(copy);
		}
	}
	ctx_buf_deinit(&original);
}

static void test_source_files__out_of_memory_fails_without_leaks(void **state)
{
	struct ctx_source_files_request request = request_of("", "/nowhere");
	enum ctx_status status = CTX_E_NOMEM;
	long n = 0;

	(void)state;
	request.all = true;
	compile("-gdwarf-4");
	for (; n < 1000 && status != CTX_OK; n++) {
		fail_after = n;
		status = try_request(&request);
		if (fail_after >= 0) /* not used: no allocation failed in this round */
			assert_int_equal(status, CTX_OK);
		else
			assert_true(status == CTX_E_NOMEM || status == CTX_OK);
		if (status == CTX_OK && fail_after < 0)
			status = CTX_E_NOMEM; /* done without what failed: go on */
		fail_after = -1;
	}
	assert_true(n > 5 && n < 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_files__all_files_are_those_that_objdump_decodes),
		cmocka_unit_test(test_source_files__only_files_of_the_places_are_returned_with_directories),
		cmocka_unit_test(test_source_files__paths_are_without_dots_but_for_those_that_links_decide),
		cmocka_unit_test(test_source_files__a_separate_file_is_used_when_it_is_of_the_same_build),
		cmocka_unit_test(test_source_files__damage_only_loses_names),
		cmocka_unit_test(test_source_files__out_of_memory_fails_without_leaks),
	};

	return cmocka_run_group_tests(tests, make_sources, remove_folder);
}
