#include "store/schema.h"

#include "base/mem.h"
#include "store/statement.h"

#include <string.h>

/* Each statement as SQLite keeps it in sqlite_schema: the check compares the texts. */
static const struct {
	const char *name;
	const char *sql;
} objects[] = {
	{"experiment", "CREATE TABLE experiment(key TEXT PRIMARY KEY, value) WITHOUT ROWID"},
	{"property", "CREATE TABLE property(id INTEGER PRIMARY KEY, key TEXT, value TEXT)"},
	{"warning", "CREATE TABLE warning(id INTEGER PRIMARY KEY, text TEXT)"},
	{"metric", "CREATE TABLE metric(id INTEGER PRIMARY KEY, name TEXT, unit TEXT, samples INTEGER, "
		   "weight INTEGER, word TEXT, spans INTEGER, parts TEXT, counts INTEGER, kind TEXT)"},
	{"outsider", "CREATE TABLE outsider(id INTEGER PRIMARY KEY, name TEXT)"},
	{"traced_file", "CREATE TABLE traced_file(id INTEGER PRIMARY KEY, name TEXT)"},
	{"process", "CREATE TABLE process(id INTEGER PRIMARY KEY, parent INTEGER, pid INTEGER, exit_status "
		    "INTEGER, command TEXT, "
		    "lineage TEXT, begin_ns INTEGER, end_ns INTEGER, samples INTEGER, weight INTEGER, "
		    "cgroup TEXT, inner_pid INTEGER)"},
	{"thread", "CREATE TABLE thread(id INTEGER PRIMARY KEY, process INTEGER, tid INTEGER, name TEXT, "
		   "begin_ns INTEGER, "
		   "end_ns INTEGER, samples INTEGER, weight INTEGER, inner_tid INTEGER)"},
	{"load_object",
	 "CREATE TABLE load_object(id INTEGER PRIMARY KEY, path TEXT, build_id TEXT, symbols TEXT)"},
	{"mapping", "CREATE TABLE mapping(id INTEGER PRIMARY KEY, process INTEGER, object INTEGER, address "
		    "INTEGER, size INTEGER, "
		    "file_offset INTEGER, begin_ns INTEGER, end_ns INTEGER)"},
	{"function", "CREATE TABLE function(id INTEGER PRIMARY KEY, name TEXT, linkage_name TEXT, aliases "
		     "TEXT, object INTEGER, "
		     "offset INTEGER, size INTEGER, kind INTEGER, inlined INTEGER, parts TEXT, code_kind "
		     "INTEGER)"},
	{"usage",
	 "CREATE TABLE usage(id INTEGER PRIMARY KEY, time_ns INTEGER, process INTEGER, user_ns INTEGER, "
	 "system_ns INTEGER, rss_bytes INTEGER, vsize_bytes INTEGER, minor_faults INTEGER, major_faults "
	 "INTEGER, "
	 "voluntary_switches INTEGER, involuntary_switches INTEGER, read_bytes INTEGER, write_bytes INTEGER, "
	 "threads INTEGER)"},
	{"loss", "CREATE TABLE loss(id INTEGER PRIMARY KEY, begin_ns INTEGER, end_ns INTEGER, cpu INTEGER, "
		 "count INTEGER, samples INTEGER, changes INTEGER, others INTEGER, calls INTEGER, "
		 "thread INTEGER)"},
	{"vm",
	 "CREATE TABLE vm(id INTEGER PRIMARY KEY, process INTEGER, name TEXT, version TEXT, collector TEXT, "
	 "command TEXT, begin_ns INTEGER, end_ns INTEGER, heap_used INTEGER, heap_max INTEGER, "
	 "classes INTEGER, class_load_ns INTEGER, compilations INTEGER, compile_ns INTEGER, gc_count "
	 "INTEGER, gc_ns INTEGER, safepoints INTEGER, safepoint_ns INTEGER, safepoint_sync_ns INTEGER)"},
	{"time_tree", "CREATE TABLE time_tree(id INTEGER PRIMARY KEY, thread INTEGER, metric INTEGER, "
		      "leaf_samples INTEGER, "
		      "fanout INTEGER, percent INTEGER, mode INTEGER, keep_tail INTEGER, same_as INTEGER)"},
	{"node_row",
	 "CREATE TABLE node_row(id INTEGER PRIMARY KEY, parent INTEGER, level INTEGER, begin_ns INTEGER, "
	 "end_ns INTEGER, n INTEGER, weight INTEGER, first_child INTEGER, n_children INTEGER, "
	 "tail_samples INTEGER, tail_weight INTEGER, tail_largest INTEGER)"},
	{"node_list", "CREATE TABLE node_list(id INTEGER PRIMARY KEY, top BLOB, tail BLOB, calls BLOB)"},
	/*
	 * Two tables, so that rows without lists are close together and a walk over the nodes reads
	 * few pages.
	 */
	{"time_node",
	 "CREATE VIEW time_node AS SELECT r.id AS id, r.id >> 32 AS tree, r.id & 4294967295 AS node, "
	 "r.parent, "
	 "r.level, r.begin_ns, r.end_ns, r.n, r.weight, r.first_child, r.n_children, r.tail_samples, "
	 "r.tail_weight, "
	 "r.tail_largest, l.top, l.tail, l.calls FROM node_row AS r LEFT JOIN node_list AS l ON l.id = r.id"},
	{"sample_block", "CREATE TABLE sample_block(id INTEGER PRIMARY KEY, n INTEGER, first_ns INTEGER, "
			 "last_ns INTEGER, payload BLOB)"},
	{"wakeup_block", "CREATE TABLE wakeup_block(id INTEGER PRIMARY KEY, n INTEGER, first_ns INTEGER, "
			 "last_ns INTEGER, payload BLOB)"},
	{"traced_block",
	 "CREATE TABLE traced_block(id INTEGER PRIMARY KEY, kind INTEGER, n INTEGER, first_ns "
	 "INTEGER, last_ns INTEGER, payload BLOB)"},
	{"stack_block",
	 "CREATE TABLE stack_block(id INTEGER PRIMARY KEY, n INTEGER, parent BLOB, function BLOB)"},
	{"raw_stack_block", "CREATE TABLE raw_stack_block(id INTEGER PRIMARY KEY, n INTEGER, stack BLOB, "
			    "parent BLOB, location BLOB)"},
	{"location_block", "CREATE TABLE location_block(id INTEGER PRIMARY KEY, n INTEGER, object BLOB, "
			   "function BLOB, address BLOB, site BLOB, joins BLOB)"},
	{"site_block", "CREATE TABLE site_block(id INTEGER PRIMARY KEY, n INTEGER, function BLOB, file BLOB, "
		       "line BLOB, caller BLOB)"},
	{"source_file",
	 "CREATE TABLE source_file(id INTEGER PRIMARY KEY, path TEXT, origin TEXT, text BLOB)"},
	{"function_code", "CREATE TABLE function_code(id INTEGER PRIMARY KEY, function INTEGER, address "
			  "INTEGER, n INTEGER, machine INTEGER, bytes BLOB, lines BLOB)"},
};

static const char *const virtual_tables[] = {"samples",	 "wakeups", "traced",	 "stack",     "raw_stack",
					     "location", "site",    "functions", "call_tree", "call_event"};

enum ctx_status ctx_schema_create(sqlite3 *db, const char *name, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < CTX_COUNT_OF(objects) && status == CTX_OK; i++)
		status = ctx_statement_exec(db, name, objects[i].sql, err);
	return status;
}

/* `stmt` reads the SQL of an object in the file `name`; want_sql NULL: it must not exist. */
static enum ctx_status check_object(sqlite3_stmt *stmt, const char *name, const char *object,
				    const char *want_sql, struct ctx_err *err)
{
	const char *sql;
	int rc;

	sqlite3_reset(stmt);
	sqlite3_bind_text(stmt, 1, object, -1, SQLITE_STATIC);
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW && rc != SQLITE_DONE)
		return ctx_statement_fail(sqlite3_db_handle(stmt), rc, name, err);
	if (want_sql == NULL)
		return rc == SQLITE_DONE
			       ? CTX_OK
			       : ctx_err_set(err, CTX_E_FORMAT, "%s: its own '%s' hides ours", name, object);
	sql = rc == SQLITE_ROW ? (const char *)sqlite3_column_text(stmt, 0) : NULL;
	if (sql == NULL || strcmp(sql, want_sql) != 0)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: table %s is %s", name, object,
				   sql != NULL ? "not as it was made" : "missing");
	return CTX_OK;
}

enum ctx_status ctx_schema_check(sqlite3 *db, const char *name, struct ctx_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ctx_status status = ctx_statement_prepare(
		db, name, "SELECT sql FROM sqlite_schema WHERE lower(name) = ?", &stmt, err);

	for (size_t i = 0; i < CTX_COUNT_OF(objects) && status == CTX_OK; i++)
		status = check_object(stmt, name, objects[i].name, objects[i].sql, err);
	for (size_t i = 0; i < CTX_COUNT_OF(virtual_tables) && status == CTX_OK; i++)
		status = check_object(stmt, name, virtual_tables[i], NULL, err);
	sqlite3_finalize(stmt);
	return status;
}
