/*
 * A server of a fleet: where statements of SQL go, and rows in RowBinary come and go.
 *
 *	fleet/http_client.c (ClickHouse over HTTP) ---+
 *	                                               +--> struct ctx_fleet_server --> push, source, schema, check
 *	a fake of a test                           ---+
 *
 * Rows are RowBinary in both directions: integers little-endian, a String is a varint of its length and its bytes, an Array
 * a varint of its items and the items (base/buf.h and base/cursor.h write and read all of these).
 */
#ifndef CTX_FLEET_FLEET_SERVER_H
#define CTX_FLEET_FLEET_SERVER_H

#include "base/buf.h"
#include "base/err.h"

/* A temporary table that a statement can name: only for this statement. */
struct ctx_fleet_table {
	const char *name;    /* "chosen"; NULL: none */
	const char *columns; /* "push UInt64, whole UInt8" */
	struct ctx_bytes rows;
};

struct ctx_fleet_request {
	const char *sql; /* one statement; of rows that come back it names no format: they are RowBinary */
	struct ctx_bytes rows; /* of an INSERT; n 0: none */
	struct ctx_fleet_table table;
};

struct ctx_fleet_server {
	/*
	 * Runs the statement and appends its rows to `answer`, all of them or, after a failure, any. CTX_E_PERM: the server does
	 * not let this user do that; CTX_E_LIMIT: more rows than the client takes; CTX_E_IO: the server, or one of its shards,
	 * cannot be reached, or refuses: the message has its name and its words.
	 */
	enum ctx_status (*ask)(void *context, const struct ctx_fleet_request *request, struct ctx_buf *answer,
			       struct ctx_err *err);
	void *context;
};

/* One statement without rows of its own. */
CTX_MUST_CHECK static inline enum ctx_status ctx_fleet_ask(const struct ctx_fleet_server *server,
							   const char *sql, struct ctx_buf *answer,
							   struct ctx_err *err)
{
	return server->ask(server->context, &(struct ctx_fleet_request){.sql = sql}, answer, err);
}

#endif
