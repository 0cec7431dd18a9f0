/*
 * A folder for the files of a test program, and paths in it. For one test program each.
 */
#ifndef CTX_TESTS_UNIT_TEST_FOLDER_H
#define CTX_TESTS_UNIT_TEST_FOLDER_H

#include "base/arena.h"
#include "base/err.h"
#include "base/fileio.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static char folder[] = "/tmp/ctx-test-folder.XXXXXX"; /* its name, once it is made */
static struct ctx_arena folder_paths;

/* For the whole group of tests: disables requests for debug files over the network. */
static inline int make_folder(void **state)
{
	(void)state;
	unsetenv("DEBUGINFOD_URLS");
	return mkdtemp(folder) != NULL ? 0 : -1;
}

static inline int remove_folder(void **state)
{
	(void)state;
	ctx_arena_deinit(&folder_paths);
	return ctx_dir_remove(folder, NULL) == CTX_OK ? 0 : -1;
}

static inline const char *in_folder(const char *fmt, ...) CTX_PRINTF(1, 2);

/* A path in the folder; lives until the end. */
static inline const char *in_folder(const char *fmt, ...)
{
	char path[512];
	int n = snprintf(path, sizeof(path), "%s/", folder);
	const char *copy;
	va_list args;

	va_start(args, fmt);
	n += vsnprintf(path + n, sizeof(path) - (size_t)n, fmt, args);
	va_end(args);
	assert_true(n < (int)sizeof(path));
	copy = ctx_arena_strdup(&folder_paths, path);
	assert_non_null(copy);
	return copy;
}

static inline void write_text(const char *path, const char *text)
{
	assert_int_equal(ctx_file_replace(path, text, strlen(text), NULL), CTX_OK);
}

#endif
