/*
 * Files and images of SQLite before they are trusted. Private to store/.
 */
#ifndef CTX_STORE_STORE_HEADER_H
#define CTX_STORE_STORE_HEADER_H

#include "base/buf.h"

#include <sqlite3.h>
#include <stdbool.h>
#include <stdint.h>

struct ctx_store_header {
	uint32_t application_id, user_version;
	uint64_t size_bytes; /* of the file */
};

/*
 * The beginning of a file of SQLite, before SQLite sees it. CTX_E_FORMAT: it is none. CTX_E_NOTFOUND, CTX_E_PERM,
 * CTX_E_IO.
 */
CTX_MUST_CHECK enum ctx_status ctx_store_header_read(const char *path, struct ctx_store_header *ret,
						     struct ctx_err *err);

/* The same of bytes. False: they are no file of SQLite. */
bool ctx_store_header_parse(struct ctx_bytes image, struct ctx_store_header *ret);

/* Whether it is of a database of this version of the program. CTX_E_FORMAT, CTX_E_VERSION. */
CTX_MUST_CHECK enum ctx_status ctx_store_header_check(const char *name, const struct ctx_store_header *header,
						      struct ctx_err *err);

/* Makes the database of an open connection a copy of `image`. `name` is for messages. */
CTX_MUST_CHECK enum ctx_status ctx_store_deserialize(sqlite3 *db, const char *name, struct ctx_bytes image,
						     bool writable, struct ctx_err *err);

/* What a file has of SQL is not run, but for tables. */
void ctx_store_distrust(sqlite3 *db);

#endif
