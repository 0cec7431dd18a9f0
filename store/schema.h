/*
 * What a database of ours looks like: the statements that make it, and the check that a file was made by
 * them. Documented for users in docs/schema.md.
 */
#ifndef CTX_STORE_SCHEMA_H
#define CTX_STORE_SCHEMA_H

#include "base/err.h"

#include <sqlite3.h>

/* In the file's header, so that file(1) and we know it without SQL: "CTXa". */
#define CTX_SCHEMA_APPLICATION_ID 0x43545861
/* Goes up with the tables, and when an ingest puts something better into them: a database of another version is made anew. */
#define CTX_SCHEMA_VERSION 7

/* Makes all tables and views in an empty database. */
CTX_MUST_CHECK enum ctx_status ctx_schema_create(sqlite3 *db, const char *name, struct ctx_err *err);

/*
 * Every object of ours is there exactly as this program makes it, and none hides a virtual table. A file
 * whose tables are views or lack columns is refused here, once, so that all statements after it are known to
 * mean what they say. Objects that users added are let be.
 */
CTX_MUST_CHECK enum ctx_status ctx_schema_check(sqlite3 *db, const char *name, struct ctx_err *err);

#endif
