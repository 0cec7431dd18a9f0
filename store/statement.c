#include "store/statement.h"

static enum ctx_status status_of(int rc)
{
	switch (rc & 0xff) {
	case SQLITE_NOMEM:
		return CTX_E_NOMEM;
	case SQLITE_FULL:
	case SQLITE_IOERR:
	case SQLITE_CANTOPEN:
	case SQLITE_READONLY:
	case SQLITE_PERM:
	case SQLITE_BUSY:
	case SQLITE_LOCKED:
	case SQLITE_PROTOCOL:
		return CTX_E_IO;
	case SQLITE_TOOBIG:
		return CTX_E_LIMIT;
	case SQLITE_CONSTRAINT: /* the row exists already */
		return CTX_E_ARG;
	case SQLITE_MISUSE:
	case SQLITE_RANGE:
		return CTX_E_INTERNAL;
	default:
		return CTX_E_FORMAT;
	}
}

enum ctx_status ctx_statement_fail(sqlite3 *db, int rc, const char *name, struct ctx_err *err)
{
	const char *what = db != NULL && (sqlite3_errcode(db) & 0xff) == (rc & 0xff) ? sqlite3_errmsg(db)
										     : sqlite3_errstr(rc);

	return ctx_err_set(err, status_of(rc), "%s: %s", name, what);
}

enum ctx_status ctx_statement_exec(sqlite3 *db, const char *name, const char *sql, struct ctx_err *err)
{
	int rc = sqlite3_exec(db, sql, NULL, NULL, NULL);

	return rc == SQLITE_OK ? CTX_OK : ctx_statement_fail(db, rc, name, err);
}

enum ctx_status ctx_statement_prepare(sqlite3 *db, const char *name, const char *sql, sqlite3_stmt **ret,
				      struct ctx_err *err)
{
	int rc = sqlite3_prepare_v3(db, sql, -1, SQLITE_PREPARE_PERSISTENT, ret, NULL);

	return rc == SQLITE_OK ? CTX_OK : ctx_statement_fail(db, rc, name, err);
}

enum ctx_status ctx_statement_run(sqlite3_stmt *stmt, const char *name, struct ctx_err *err)
{
	int rc = sqlite3_step(stmt);
	enum ctx_status status = CTX_OK;

	if (rc != SQLITE_DONE)
		status = ctx_statement_fail(sqlite3_db_handle(stmt), rc, name, err);
	sqlite3_reset(stmt);
	return status;
}
