/*
 * The schema of the database: the statements that create it, and the check that a file was created
 * by them. Documented for users in docs/schema.md.
 */
#ifndef CTX_STORE_SCHEMA_H
#define CTX_STORE_SCHEMA_H

#include "base/err.h"

#include <sqlite3.h>

/* Application id in the file's header, to recognise it without SQL (also for file(1)): "CTXa". */
#define CTX_SCHEMA_APPLICATION_ID 0x43545861
/*
 * Increased when the tables change, or when an ingest writes better contents: a database of another
 * version is rebuilt.
 */
#define CTX_SCHEMA_VERSION 13

/* Creates all tables and views in an empty database. */
CTX_MUST_CHECK enum ctx_status ctx_schema_create(sqlite3 *db, const char *name, struct ctx_err *err);

/*
 * Checks that every object of the schema exists exactly as this program creates it, and that no
 * object hides a virtual table. A file whose tables are views or lack columns is refused here,
 * once, so that later statements can rely on the schema. Objects added by users are ignored.
 */
CTX_MUST_CHECK enum ctx_status ctx_schema_check(sqlite3 *db, const char *name, struct ctx_err *err);

#endif
