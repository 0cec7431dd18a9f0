#include "store/store_header.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "store/schema.h"
#include "store/statement.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* SQLite's file header: magic, and at fixed offsets the values that we set (big-endian). */
#define HEADER_BYTES 100
#define AT_USER_VERSION 60
#define AT_APPLICATION_ID 68

static uint32_t big_endian_32(const uint8_t *at)
{
	return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

bool ctx_store_header_parse(struct ctx_bytes image, struct ctx_store_header *ret)
{
	const uint8_t *bytes = image.at;

	if (image.n < HEADER_BYTES || memcmp(bytes, "SQLite format 3", 16) != 0)
		return false;
	ret->application_id = big_endian_32(bytes + AT_APPLICATION_ID);
	ret->user_version = big_endian_32(bytes + AT_USER_VERSION);
	return true;
}

enum ctx_status ctx_store_header_read(const char *path, struct ctx_store_header *ret, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	uint8_t header[HEADER_BYTES];
	enum ctx_status status;
	struct stat stat;
	size_t got = 0;

	if (fd < 0)
		return ctx_err_errno(err,
				     errno == ENOENT || errno == ENOTDIR ? CTX_E_NOTFOUND
				     : errno == EACCES			 ? CTX_E_PERM
									 : CTX_E_IO,
				     "%s", path);
	if (fstat(fd, &stat) != 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	if (!S_ISREG(stat.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a ctxan database: not a regular file", path);
	status = ctx_file_pread(&(struct ctx_file_place){fd, path, 0}, header, sizeof(header), &got, err);
	if (status < 0)
		return status;
	if (!ctx_store_header_parse((struct ctx_bytes){header, got}, ret))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a ctxan database", path);
	ret->size_bytes = (uint64_t)stat.st_size;
	return CTX_OK;
}

enum ctx_status ctx_store_header_check(const char *name, const struct ctx_store_header *header,
				       struct ctx_err *err)
{
	if (header->application_id != CTX_SCHEMA_APPLICATION_ID)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a ctxan database", name);
	if (header->user_version != CTX_SCHEMA_VERSION)
		return ctx_err_set(err, CTX_E_VERSION,
				   "%s: has schema version %u, this program reads %d: ingest again", name,
				   header->user_version, CTX_SCHEMA_VERSION);
	return CTX_OK;
}

enum ctx_status ctx_store_deserialize(sqlite3 *db, const char *name, struct ctx_bytes image, bool writable,
				      struct ctx_err *err)
{
	unsigned flags = SQLITE_DESERIALIZE_FREEONCLOSE |
			 (writable ? SQLITE_DESERIALIZE_RESIZEABLE : SQLITE_DESERIALIZE_READONLY);
	unsigned char *copy = sqlite3_malloc64(image.n + 1);
	int rc;

	if (copy == NULL)
		return ctx_err_nomem(err);
	memcpy(copy, image.at, image.n);
	/* The copy is released by SQLite, also after a failure. */
	rc = sqlite3_deserialize(db, "main", copy, (sqlite3_int64)image.n, (sqlite3_int64)image.n + 1, flags);
	return rc == SQLITE_OK ? CTX_OK : ctx_statement_fail(db, rc, name, err);
}

void ctx_store_distrust(sqlite3 *db)
{
	sqlite3_db_config(db, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_ENABLE_LOAD_EXTENSION, 0, NULL);
	sqlite3_db_config(db, SQLITE_DBCONFIG_WRITABLE_SCHEMA, 0, NULL);
	sqlite3_limit(db, SQLITE_LIMIT_ATTACHED, 0);
}
