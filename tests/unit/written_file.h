/*
 * For tests of readers of files: one file of a name of its own, which each test writes anew. make_path and remove_path are
 * the group's.
 */
#ifndef CTX_TESTS_UNIT_WRITTEN_FILE_H
#define CTX_TESTS_UNIT_WRITTEN_FILE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

static char path[] = "/tmp/ctx_test.XXXXXX";

static inline void write_bytes(const void *bytes, size_t n)
{
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	assert_int_equal(fwrite(bytes, 1, n, file), n);
	assert_int_equal(fclose(file), 0);
}

static inline int make_path(void **state)
{
	int fd = mkstemp(path);

	(void)state;
	if (fd >= 0)
		close(fd);
	return fd >= 0 ? 0 : -1;
}

static inline int remove_path(void **state)
{
	(void)state;
	return unlink(path);
}

#endif
