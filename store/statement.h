/*
 * SQLite calls with status codes and messages: every failure names the file.
 */
#ifndef CTX_STORE_STATEMENT_H
#define CTX_STORE_STATEMENT_H

#include "base/err.h"

#include <sqlite3.h>
#include <stdint.h>

/* The status and message for a failed call: full disk and I/O are CTX_E_IO, damage is CTX_E_FORMAT.
 * `name`: the file. */
enum ctx_status ctx_statement_fail(sqlite3 *db, int rc, const char *name, struct ctx_err *err);

CTX_MUST_CHECK enum ctx_status ctx_statement_exec(sqlite3 *db, const char *name, const char *sql,
						  struct ctx_err *err);

/* `*ret` is owned by the caller (sqlite3_finalize), NULL on failure. */
CTX_MUST_CHECK enum ctx_status ctx_statement_prepare(sqlite3 *db, const char *name, const char *sql,
						     sqlite3_stmt **ret, struct ctx_err *err);

/* Runs a statement that returns no rows, and resets it for the next binding. */
CTX_MUST_CHECK enum ctx_status ctx_statement_run(sqlite3_stmt *stmt, const char *name, struct ctx_err *err);

/* Numbers from 2^63 on are stored as the negative number with the same bits. */
static inline void ctx_bind_u64(sqlite3_stmt *stmt, int at, uint64_t value)
{
	sqlite3_bind_int64(stmt, at, (int64_t)value);
}

/* NULL for "no such id" (UINT32_MAX). */
static inline void ctx_bind_id(sqlite3_stmt *stmt, int at, uint32_t id)
{
	if (id == UINT32_MAX)
		sqlite3_bind_null(stmt, at);
	else
		sqlite3_bind_int64(stmt, at, id);
}

static inline void ctx_bind_text(sqlite3_stmt *stmt, int at, const char *text)
{
	sqlite3_bind_text(stmt, at, text, -1, SQLITE_STATIC);
}

/* A zero-length blob is an empty blob, not NULL. */
static inline void ctx_bind_blob(sqlite3_stmt *stmt, int at, const void *bytes, size_t n)
{
	sqlite3_bind_blob64(stmt, at, n != 0 ? bytes : "", n, SQLITE_STATIC);
}

/* A result: NULL for "no such id". */
static inline void ctx_result_id(sqlite3_context *result, uint32_t id)
{
	if (id == UINT32_MAX)
		sqlite3_result_null(result);
	else
		sqlite3_result_int64(result, id);
}

static inline uint64_t ctx_column_u64(sqlite3_stmt *stmt, int at)
{
	return (uint64_t)sqlite3_column_int64(stmt, at);
}

/* A number that does not fit becomes UINT32_MAX, like NULL: the caller's range check refuses it. */
static inline uint32_t ctx_column_id(sqlite3_stmt *stmt, int at)
{
	int64_t value = sqlite3_column_int64(stmt, at);

	if (sqlite3_column_type(stmt, at) == SQLITE_NULL || value < 0 || value > UINT32_MAX)
		return UINT32_MAX;
	return (uint32_t)value;
}

#endif
