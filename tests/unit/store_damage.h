/*
 * Databases changed by other programs: damage is detected. For one test program each, which links
 * SQLite.
 */
#ifndef CTX_TESTS_UNIT_STORE_DAMAGE_H
#define CTX_TESTS_UNIT_STORE_DAMAGE_H

#include "store_places.h"

#include <sqlite3.h>

static inline void change_database(const char *path, const char *sql)
{
	sqlite3 *db = NULL;

	assert_int_equal(sqlite3_open(path, &db), SQLITE_OK);
	if (sqlite3_exec(db, sql, NULL, NULL, NULL) != SQLITE_OK)
		fail_msg("%s: %s", sql, sqlite3_errmsg(db));
	assert_true(sqlite3_changes(db) > 0);
	assert_int_equal(sqlite3_close(db), SQLITE_OK);
}

/*
 * What lies in a database in blocks: how it is put there, how all of it is read, and the query that
 * shows it.
 */
struct in_blocks {
	void (*write)(struct fixture *fixture, const char *path, size_t block);
	enum ctx_status (*read)(struct ctx_store *store, struct ctx_err *err);
	const char *query;
};

/*
 * What opening and reading say of a database that `sql` changed (NULL: nothing did). SQL says the
 * same.
 */
static inline enum ctx_status status_after(const struct in_blocks *it, struct fixture *fixture,
					   const char *sql)
{
	const char *path = in_dir("changed.db");
	struct ctx_store *store = NULL;
	struct ctx_err err = {0};
	enum ctx_status status;

	it->write(fixture, path, 100);
	if (sql != NULL)
		change_database(path, sql);
	status = ctx_store_open(path, &store, &err);
	if (status == CTX_OK) {
		status = it->read(store, &err);
		assert_int_equal(ctx_store_sql(store, it->query, ignore_row, NULL, NULL) == CTX_OK,
				 status == CTX_OK);
	}
	ctx_store_close(store);
	assert_true(status == CTX_OK || err.msg[0] != '\0');
	return status;
}

/* Each of the `n` statements makes of a sound database one that is not. */
static inline void assert_damage_is_found(const struct in_blocks *it, struct fixture *fixture,
					  const char *const *damages, size_t n)
{
	assert_int_equal(status_after(it, fixture, NULL), CTX_OK);
	for (size_t i = 0; i < n; i++) {
		if (status_after(it, fixture, damages[i]) != CTX_E_FORMAT)
			fail_msg("not found: %s", damages[i]);
	}
}

#endif
