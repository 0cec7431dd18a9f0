/*
 * SQL from users: only statements that read. Three safeguards: the file is open read-only, SQLite
 * reports that the statement does not write, and an authorizer allows only reading.
 */
#include "store/vtab.h"

#include "base/mem.h"

#include "model/thread_state.h"
#include <stdio.h>

#include <string.h>

_Static_assert(CTX_STATE_N == 11, "the view thread_state has the metrics of eleven states");

/* Sums of calls are no events. */
#define HAS_LOG "AND (SELECT IFNULL(max(value), 1) FROM experiment WHERE key = 'call_log') = 1 "

/* Temporary, because they use virtual tables that only this program has. */
static const char *const views[] = {
	"CREATE TEMP VIEW sample_names AS SELECT s.time_ns, s.cpu, m.name AS metric, s.weight, p.pid, "
	"p.command, t.tid, "
	"t.name AS thread_name, f.name AS function, o.path AS object, s.thread, s.stack, s.raw_stack FROM "
	"samples AS s "
	"JOIN metric AS m ON m.id = s.metric JOIN thread AS t ON t.id = s.thread JOIN process AS p ON p.id = "
	"t.process "
	"LEFT JOIN stack AS k ON k.id = s.stack LEFT JOIN function AS f ON f.id = k.function "
	"LEFT JOIN load_object AS o ON o.id = f.object",
	"CREATE TEMP VIEW thread_state AS SELECT s.time_ns + 1 - s.weight AS begin_ns, s.time_ns + 1 AS "
	"end_ns, s.thread, m.name AS state, s.metric, s.cpu, s.stack, s.raw_stack, s.time_ns AS last_ns "
	"FROM experiment AS e CROSS JOIN metric AS m CROSS JOIN samples AS s "
	"WHERE e.key = 'states' AND m.id >= e.value AND m.id < e.value + 11 AND s.metric = m.id",
	/* Major codes: samples, instrumented, interpreted, compiled. Minor codes: entry, exit, unwind. */
	"CREATE TEMP VIEW call_event AS SELECT time_ns - duration_ns AS time_ns, thread, "
	"CASE operation WHEN 'interpreted' THEN 48 WHEN 'compiled' THEN 80 ELSE 65 END AS major, 1 AS minor, "
	"stack, raw_stack, duration_ns FROM traced WHERE kind = 'call' " HAS_LOG
	"UNION ALL SELECT time_ns, thread, "
	"CASE operation WHEN 'interpreted' THEN 48 WHEN 'compiled' THEN 80 ELSE 65 END, "
	"CASE failed WHEN 0 THEN 2 ELSE 2147483647 END, stack, raw_stack, duration_ns FROM traced "
	"WHERE kind = 'call' " HAS_LOG
	"UNION ALL SELECT s.time_ns, s.thread, 64, 0, s.stack, s.raw_stack, NULL FROM metric AS m CROSS JOIN "
	"samples AS s WHERE m.spans = 0 AND m.parts IS NULL AND s.metric = m.id AND m.id < (SELECT "
	"IFNULL(max(id), 4294967295) FROM metric WHERE kind = 'call-span')",
};

/*
 * A virtual table is declared at its first use, which is CREATE TABLE to the authorizer: so this is
 * done before the authorizer is set.
 */
static const char first_use[] = "SELECT 1 FROM samples, wakeups, traced, stack, raw_stack, location, site, "
				"functions, call_tree LIMIT 0";

static enum ctx_status prepare_once(struct ctx_store *store, struct ctx_err *err)
{
	enum ctx_status status;

	if (store->has_modules)
		return CTX_OK;
	status = ctx_vtab_register_all(store, err);
	if (status == CTX_OK)
		status = ctx_statement_exec(store->db, store->path, first_use, err);
	/* Temporary objects count as writing: allowed for the moment. */
	if (status == CTX_OK)
		status = ctx_statement_exec(store->db, store->path, "PRAGMA query_only = OFF", err);
	for (size_t i = 0; i < CTX_COUNT_OF(views) && status == CTX_OK; i++)
		status = ctx_statement_exec(store->db, store->path, views[i], err);
	if (status == CTX_OK)
		status = ctx_statement_exec(store->db, store->path, "PRAGMA query_only = ON", err);
	store->has_modules = status == CTX_OK;
	return status;
}

static bool is_in(const char *name, const char *const *names, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (sqlite3_stricmp(name, names[i]) == 0)
			return true;
	}
	return false;
}

static int authorize(void *context, int action, const char *a, const char *b, const char *database,
		     const char *via)
{
	static const char *const pragmas[] = {"table_info", "table_xinfo", "table_list", "index_list",
					      "index_info"};
	static const char *const functions[] = {"load_extension", "writefile",	    "readfile",
						"edit",		  "fts3_tokenizer", "rtreecheck"};

	(void)context;
	(void)database;
	(void)via;
	switch (action) {
	case SQLITE_SELECT:
	case SQLITE_READ:
	case SQLITE_RECURSIVE:
		return SQLITE_OK;
	case SQLITE_FUNCTION:
		return b != NULL && is_in(b, functions, CTX_COUNT_OF(functions)) ? SQLITE_DENY : SQLITE_OK;
	case SQLITE_PRAGMA:
		return a != NULL && is_in(a, pragmas, CTX_COUNT_OF(pragmas)) ? SQLITE_OK : SQLITE_DENY;
	default:
		return SQLITE_DENY;
	}
}

/* One row's cells, kept from row to row. */
struct row {
	const char **names, **values;
	bool *numeric;
	char (*blobs)[40]; /* a blob is shown by its size; hex(x) shows its bytes */
};

static void row_deinit(struct row *row)
{
	free(row->names);
	free(row->values);
	free(row->numeric);
	free(row->blobs);
}

static enum ctx_status row_init(struct row *row, sqlite3_stmt *stmt, int n, struct ctx_err *err)
{
	size_t cells = (size_t)n;

	*row = (struct row){ctx_calloc(cells, sizeof(*row->names)), ctx_calloc(cells, sizeof(*row->values)),
			    ctx_calloc(cells, sizeof(*row->numeric)), ctx_calloc(cells, sizeof(*row->blobs))};
	if (row->names == NULL || row->values == NULL || row->numeric == NULL || row->blobs == NULL)
		return ctx_err_nomem(err);
	for (int i = 0; i < n; i++) {
		row->names[i] = sqlite3_column_name(stmt, i);
		if (row->names[i] == NULL)
			return ctx_err_nomem(err);
	}
	return CTX_OK;
}

static enum ctx_status fill_row(struct row *row, sqlite3_stmt *stmt, int n, struct ctx_err *err)
{
	for (int i = 0; i < n; i++) {
		int type = sqlite3_column_type(stmt, i);

		row->numeric[i] = type == SQLITE_INTEGER || type == SQLITE_FLOAT;
		if (type == SQLITE_NULL) {
			row->values[i] = NULL;
		} else if (type == SQLITE_BLOB) {
			snprintf(row->blobs[i], sizeof(row->blobs[i]), "(blob of %d bytes)",
				 sqlite3_column_bytes(stmt, i));
			row->values[i] = row->blobs[i];
		} else {
			row->values[i] = (const char *)sqlite3_column_text(stmt, i);
			if (row->values[i] == NULL)
				return ctx_err_nomem(err);
		}
	}
	return CTX_OK;
}

/* An invalid statement is CTX_E_ARG. Damage and I/O errors keep their own status. */
static enum ctx_status sql_fail(struct ctx_store *store, int rc, struct ctx_err *err)
{
	switch (rc & 0xff) {
	case SQLITE_CORRUPT:
	case SQLITE_NOTADB:
	case SQLITE_NOMEM:
	case SQLITE_IOERR:
		return ctx_statement_fail(store->db, rc, store->path, err);
	case SQLITE_AUTH:
	case SQLITE_READONLY:
		return ctx_err_set(err, CTX_E_ARG, "SQL: only statements that read are run (%s)",
				   sqlite3_errmsg(store->db));
	default:
		return ctx_err_set(err, CTX_E_ARG, "SQL: %s", sqlite3_errmsg(store->db));
	}
}

static enum ctx_status run_statement(struct ctx_store *store, sqlite3_stmt *stmt, ctx_sql_row_fn each,
				     void *context, struct ctx_err *err)
{
	int n = sqlite3_column_count(stmt);
	struct row row = {0};
	enum ctx_status status;
	int rc = SQLITE_DONE;

	if (!sqlite3_stmt_readonly(stmt))
		return ctx_err_set(err, CTX_E_ARG, "SQL: only statements that read are run");
	status = row_init(&row, stmt, n, err);
	while (status == CTX_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW) {
		struct ctx_sql_result_row result = {n, row.names, row.values, row.numeric};

		status = fill_row(&row, stmt, n, err);
		if (status == CTX_OK)
			status = each(context, &result, err);
	}
	if (status == CTX_OK && rc != SQLITE_DONE)
		status = sql_fail(store, rc, err);
	row_deinit(&row);
	return status;
}

static enum ctx_status run_all(struct ctx_store *store, const char *sql, ctx_sql_row_fn each, void *context,
			       struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	while (status == CTX_OK && *sql != '\0') {
		sqlite3_stmt *stmt = NULL;
		int rc = sqlite3_prepare_v2(store->db, sql, -1, &stmt, &sql);

		if (rc != SQLITE_OK)
			return sql_fail(store, rc, err);
		/* Blanks and comments alone are not a statement. */
		if (stmt != NULL)
			status = run_statement(store, stmt, each, context, err);
		sqlite3_finalize(stmt);
	}
	return status;
}

enum ctx_status ctx_store_sql(struct ctx_store *store, const char *sql, ctx_sql_row_fn each, void *context,
			      struct ctx_err *err)
{
	enum ctx_status status;

	if (store->temp_path != NULL)
		return ctx_err_set(err, CTX_E_ARG, "%s: is being written", store->path);
	status = prepare_once(store, err);
	if (status != CTX_OK)
		return status;
	sqlite3_set_authorizer(store->db, authorize, NULL);
	status = run_all(store, sql, each, context, err);
	sqlite3_set_authorizer(store->db, NULL, NULL);
	return status;
}
