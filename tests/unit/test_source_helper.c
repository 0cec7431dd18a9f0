/*
 * ctxrec with ctxrec-sources replaced by shell scripts that work correctly, hang, crash, or return
 * invalid results; and helpers whose output is captured.
 */
#include "base/strtab.h"
#include "collect/captured.h"
#include "collect/source_helper.h"
#include "shell_commands.h"
#include "test_folder.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

static enum ctx_status keep_path(void *context, const char *path, struct ctx_err *err)
{
	uint32_t id;

	return ctx_strtab_add_text(context, path, &id, err);
}

/* Runs a script with these commands for /some/object, build id "ab", and two offsets. */
static enum ctx_status run_script(const char *commands, unsigned seconds, struct ctx_strtab *paths)
{
	static const uint64_t offsets[] = {1, 0x1122334455667788};
	const char *program = in_folder("script");
	struct ctx_source_helper_request request = {.program = program,
						    .object = "/some/object",
						    .build_id = "ab",
						    .offsets = offsets,
						    .n_offsets = 2,
						    .seconds = seconds};
	FILE *file = fopen(program, "w");

	assert_non_null(file);
	fprintf(file, "#!/bin/sh\n%s\n", commands);
	assert_int_equal(fclose(file), 0);
	run("chmod +x %s", program);
	return ctx_source_helper_run(&request, keep_path, paths, NULL);
}

static void test_source_helper__it_gets_the_object_and_its_offsets_and_gives_paths(void **state)
{
	struct ctx_strtab paths = {0};

	(void)state;
	assert_int_equal(run_script("printf '/%s\\0/%s\\0/%s\\0relative\\0/cut' \"$1\" \"$2\" \"$#\"; "
				    "printf '\\0/'; od -An -v -tx8 | tr -d ' \\n'; printf '\\0/no-end'",
				    60, &paths),
			 CTX_OK);
	assert_int_equal(paths.n, 5);
	assert_string_equal(ctx_strtab_get(&paths, 0), "//some/object");
	assert_string_equal(ctx_strtab_get(&paths, 1), "/ab");
	assert_string_equal(ctx_strtab_get(&paths, 2), "/2");
	assert_string_equal(ctx_strtab_get(&paths, 3), "/cut");
	assert_string_equal(ctx_strtab_get(&paths, 4), "/00000000000000011122334455667788");
	ctx_strtab_deinit(&paths);
}

static void test_source_helper__an_object_without_lines_is_none_and_a_failure_keeps_partial_results(
	void **state)
{
	struct ctx_strtab paths = {0};

	(void)state;
	assert_int_equal(run_script("printf '/x\\0'; exit 3", 60, &paths), CTX_E_NOTFOUND);
	assert_int_equal(paths.n, 0);
	assert_int_equal(run_script("printf '/x\\0'; exit 2", 60, &paths), CTX_E_LIMIT);
	assert_int_equal(run_script("printf '/y\\0'; kill -SEGV $$", 60, &paths), CTX_E_LIMIT);
	assert_int_equal(paths.n, 2);
	ctx_strtab_deinit(&paths);
}

static void test_source_helper__one_that_hangs_or_never_stops_writing_is_ended(void **state)
{
	struct ctx_strtab paths = {0};
	size_t n;

	(void)state;
	assert_int_equal(run_script("printf '/x\\0'; exec sleep 100", 1, &paths), CTX_E_LIMIT);
	/* On a busy machine it may not have got so far in its second. */
	assert_true(paths.n <= 1);
	n = paths.n;
	assert_int_equal(run_script("exec yes /far/too/much", 100, &paths), CTX_E_LIMIT);
	assert_int_equal(paths.n, n); /* not one whole path */
	ctx_strtab_deinit(&paths);
}

static void test_source_helper__a_program_that_cannot_be_run_is_an_error(void **state)
{
	struct ctx_source_helper_request request = {
		.program = in_folder("nothing"), .object = "/some/object", .build_id = "", .seconds = 1};

	(void)state;
	assert_int_equal(ctx_source_helper_run(&request, keep_path, NULL, NULL), CTX_E_IO);
}

/* This program is in the same directory as ctxrec. */
static void test_source_helper__the_program_is_found_beside_this_one(void **state)
{
	char path[PATH_MAX];

	(void)state;
	assert_int_equal(ctx_source_helper_find(path, NULL), CTX_OK);
	assert_int_equal(access(path, X_OK), 0);
}

/* The signals that the recorder blocks and ignores are as usual there, and nothing is read. */
static void test_captured__both_streams_and_the_end_of_a_helper_are_kept(void **state)
{
	char *argv[] = {(char[]){"/bin/sh"}, (char[]){"-c"},
			(char[]){"echo out; echo err >&2; read line && exit 9; kill -PIPE $$; exit 8"}, NULL};
	struct ctx_captured captured = {0};
	struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
	sigset_t pipe, mask;

	(void)state;
	sigemptyset(&pipe);
	sigaddset(&pipe, SIGPIPE);
	assert_int_equal(sigaction(SIGPIPE, &ignore, &old), 0);
	assert_int_equal(sigprocmask(SIG_BLOCK, &pipe, &mask), 0);
	assert_int_equal(ctx_captured_run(argv, 60, &captured, NULL), CTX_OK);
	assert_int_equal(sigprocmask(SIG_SETMASK, &mask, NULL), 0);
	assert_int_equal(sigaction(SIGPIPE, &old, NULL), 0);
	assert_string_equal((const char *)captured.out.bytes, "out\n");
	assert_string_equal((const char *)captured.errors.bytes, "err\n");
	assert_true(WIFSIGNALED(captured.status) && WTERMSIG(captured.status) == SIGPIPE);
	ctx_captured_deinit(&captured);
}

static void test_captured__a_helper_that_hangs_or_cannot_be_run_is_an_error(void **state)
{
	char *hangs[] = {(char[]){"/bin/sh"}, (char[]){"-c"}, (char[]){"exec sleep 100"}, NULL};
	char *missing[] = {(char[]){"/no/such/program"}, NULL};
	struct ctx_captured captured = {0};

	(void)state;
	assert_int_equal(ctx_captured_run(hangs, 1, &captured, NULL), CTX_E_LIMIT);
	assert_int_equal(ctx_captured_run(missing, 60, &captured, NULL), CTX_E_IO);
	ctx_captured_deinit(&captured);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_source_helper__it_gets_the_object_and_its_offsets_and_gives_paths),
		cmocka_unit_test(
			test_source_helper__an_object_without_lines_is_none_and_a_failure_keeps_partial_results),
		cmocka_unit_test(test_source_helper__one_that_hangs_or_never_stops_writing_is_ended),
		cmocka_unit_test(test_source_helper__a_program_that_cannot_be_run_is_an_error),
		cmocka_unit_test(test_source_helper__the_program_is_found_beside_this_one),
		cmocka_unit_test(test_captured__both_streams_and_the_end_of_a_helper_are_kept),
		cmocka_unit_test(test_captured__a_helper_that_hangs_or_cannot_be_run_is_an_error),
	};

	return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
