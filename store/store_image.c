#include "store/store_image.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "store/schema.h"
#include "store/store_impl.h"

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

/* False: not a file of SQLite. */
static bool parse_header(const uint8_t *bytes, size_t n, struct ctx_store_header *ret)
{
	if (n < HEADER_BYTES || memcmp(bytes, "SQLite format 3", 16) != 0)
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
	if (!parse_header(header, got, ret))
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

static enum ctx_status open_bytes(struct ctx_store *store, struct ctx_bytes image, struct ctx_err *err)
{
	int rc = sqlite3_open_v2(":memory:", &store->db,
				 SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	enum ctx_status status;

	if (rc != SQLITE_OK)
		return ctx_statement_fail(store->db, rc, store->path, err);
	status = ctx_store_deserialize(store->db, store->path, image, false, err);
	return status == CTX_OK ? ctx_store_begin_reading(store, err) : status;
}

enum ctx_status ctx_store_open_image(const char *name, struct ctx_bytes image, struct ctx_store **ret,
				     struct ctx_err *err)
{
	struct ctx_store_header header = {0};
	struct ctx_store *store;
	enum ctx_status status;

	if (!parse_header(image.at, image.n, &header))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a ctxan database", name);
	status = ctx_store_header_check(name, &header, err);
	if (status == CTX_OK)
		status = ctx_store_new(name, image.n, &store, err);
	if (status != CTX_OK)
		return status;
	status = open_bytes(store, image, err);
	if (status != CTX_OK) {
		ctx_store_close(store);
		return status;
	}
	*ret = store;
	return CTX_OK;
}

enum ctx_status ctx_store_image(struct ctx_store *store, struct ctx_buf *out, struct ctx_err *err)
{
	sqlite3_int64 n = 0;
	unsigned char *bytes;
	enum ctx_status status;

	if (store->failed || store->temp_path != NULL)
		return ctx_err_set(err, CTX_E_ARG, "%s: is being written", store->path);
	if (store->has_contents) {
		status = ctx_store_end_writing(store, err);
		if (status != CTX_OK)
			return status;
		store->has_contents = false;
	}
	bytes = sqlite3_serialize(store->db, "main", &n, 0);
	if (bytes == NULL)
		return ctx_err_nomem(err);
	ctx_buf_put(out, bytes, (size_t)n);
	sqlite3_free(bytes);
	return ctx_buf_check(out, err);
}
