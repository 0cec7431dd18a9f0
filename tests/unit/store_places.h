/*
 * A directory for each test of the store, and databases in it. For one test program each.
 */
#ifndef CTX_TESTS_UNIT_STORE_PLACES_H
#define CTX_TESTS_UNIT_STORE_PLACES_H

#include "store_fixture.h"

#include "base/fileio.h"
#include "tests/unit/scratch.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

static char *dir;

static int make_dir(void **state)
{
	(void)state;
	dir = scratch_directory("ctx-test-store");
	return dir != NULL ? 0 : -1;
}

static int remove_dir(void **state)
{
	int ret = ctx_dir_remove(dir, NULL) == CTX_OK ? 0 : -1;

	(void)state;
	free(dir);
	return ret;
}

static const char *in_dir(const char *name)
{
	static char paths[4][128];
	static unsigned next;
	char *path = paths[next++ % 4];

	snprintf(path, sizeof(paths[0]), "%s/%s", dir, name);
	return path;
}

#define must(call)                                                                                           \
	do {                                                                                                 \
		struct ctx_err must_err = {0};                                                               \
		struct ctx_err *err = &must_err;                                                             \
		if ((call) != CTX_OK)                                                                        \
			fail_msg("%s", must_err.msg);                                                        \
	} while (0)

static inline struct ctx_store *write_and_open(struct fixture *fixture, const char *path)
{
	struct ctx_store *store = NULL;

	must(fixture_write(fixture, path, err));
	must(ctx_store_open(path, &store, err));
	return store;
}

/* For ctx_store_sql. */
static inline enum ctx_status ignore_row(void *context, const struct ctx_sql_result_row *row,
					 struct ctx_err *err)
{
	(void)context;
	(void)row;
	(void)err;
	return CTX_OK;
}

#define in_own_dir(test) cmocka_unit_test_setup_teardown(test, make_dir, remove_dir)

#endif
