#include "store/archive.h"

#include "base/compress.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "base/xxh.h"
#include "store/statement.h"
#include "store/store_header.h"
#include "store/store_image.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#define APPLICATION_ID 0x43545862 /* "CTXb" */
#define VERSION 1
#define LEVEL 12 /* of zstd: smaller ones cost a tenth in size, larger ones seconds */

static const char table_sql[] = "CREATE TABLE run(id INTEGER PRIMARY KEY, name TEXT, fingerprint TEXT, "
				"samples_kept INTEGER, wall_ns INTEGER, "
				"samples INTEGER, raw_bytes INTEGER, checksum INTEGER, payload BLOB)";

struct ctx_archive {
	sqlite3 *db;
	char *path;
	struct ctx_arena arena; /* of texts */
	struct ctx_archive_run *runs;
	size_t n, cap;
};

bool ctx_archive_is(const char *path)
{
	struct ctx_store_header header;

	return ctx_store_header_read(path, &header, NULL) == CTX_OK &&
	       header.application_id == APPLICATION_ID;
}

static enum ctx_status make(const char *path, struct ctx_archive **ret, struct ctx_err *err)
{
	struct ctx_archive *archive = ctx_calloc(1, sizeof(*archive));
	int rc;

	if (archive == NULL)
		return ctx_err_nomem(err);
	archive->path = ctx_memdup0(path, strlen(path));
	if (archive->path == NULL) {
		ctx_archive_close(archive);
		return ctx_err_nomem(err);
	}
	rc = sqlite3_open_v2(":memory:", &archive->db,
			     SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_EXRESCODE, NULL);
	if (rc != SQLITE_OK) {
		enum ctx_status status = ctx_statement_fail(archive->db, rc, path, err);

		ctx_archive_close(archive);
		return status;
	}
	ctx_store_distrust(archive->db);
	*ret = archive;
	return CTX_OK;
}

enum ctx_status ctx_archive_create(const char *path, struct ctx_archive **ret, struct ctx_err *err)
{
	char pragma[128];
	enum ctx_status status = make(path, ret, err);

	if (status != CTX_OK)
		return status;
	snprintf(pragma, sizeof(pragma),
		 "PRAGMA page_size = 4096; PRAGMA application_id = %d; PRAGMA user_version = %d",
		 APPLICATION_ID, VERSION);
	status = ctx_statement_exec((*ret)->db, path, pragma, err);
	if (status == CTX_OK)
		status = ctx_statement_exec((*ret)->db, path, table_sql, err);
	if (status != CTX_OK)
		ctx_archive_close(*ret);
	return status;
}

/* ---- reading ---- */

static enum ctx_status check_schema(struct ctx_archive *archive, struct ctx_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ctx_status status =
		ctx_statement_prepare(archive->db, archive->path,
				      "SELECT count(*), total(sql IS ?1) FROM sqlite_schema", &stmt, err);
	int rc;

	if (status != CTX_OK)
		return status;
	ctx_bind_text(stmt, 1, table_sql);
	rc = sqlite3_step(stmt);
	if (rc != SQLITE_ROW)
		status = ctx_statement_fail(archive->db, rc, archive->path, err);
	else if (sqlite3_column_int64(stmt, 0) != 1 || sqlite3_column_int64(stmt, 1) != 1)
		status = ctx_err_set(err, CTX_E_FORMAT, "%s: the table of an archive is not as it was made",
				     archive->path);
	sqlite3_finalize(stmt);
	return status;
}

static const char *text_of(struct ctx_archive *archive, sqlite3_stmt *stmt, int at)
{
	const char *text = (const char *)sqlite3_column_text(stmt, at);

	return ctx_arena_strdup(&archive->arena, text != NULL ? text : "");
}

static enum ctx_status take_run(struct ctx_archive *archive, sqlite3_stmt *stmt, struct ctx_err *err)
{
	struct ctx_archive_run run = {
		.name = text_of(archive, stmt, 1),
		.fingerprint = text_of(archive, stmt, 2),
		.has_samples = sqlite3_column_int64(stmt, 3) != 0,
		.wall_ns = ctx_column_u64(stmt, 4),
		.samples = ctx_column_u64(stmt, 5),
		.raw_bytes = ctx_column_u64(stmt, 6),
		.checksum = ctx_column_u64(stmt, 7),
		.packed_bytes = ctx_column_u64(stmt, 8),
	};
	enum ctx_status status;

	if (run.name == NULL || run.fingerprint == NULL)
		return ctx_err_nomem(err);
	if (ctx_column_u64(stmt, 0) != archive->n + 1 || archive->n == CTX_ARCHIVE_RUNS_MAX ||
	    run.raw_bytes > CTX_ARCHIVE_BYTES_MAX)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: run %zu is damaged", archive->path,
				   archive->n + 1);
	status = ctx_grow(&archive->runs, &archive->cap, archive->n + 1, err);
	if (status == CTX_OK)
		archive->runs[archive->n++] = run;
	return status;
}

static enum ctx_status read_runs(struct ctx_archive *archive, struct ctx_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ctx_status status = ctx_statement_prepare(archive->db, archive->path,
						       "SELECT id, name, fingerprint, samples_kept, wall_ns, "
						       "samples, raw_bytes, checksum, length(payload) "
						       "FROM run ORDER BY id",
						       &stmt, err);
	int rc = SQLITE_DONE;

	while (status == CTX_OK && (rc = sqlite3_step(stmt)) == SQLITE_ROW)
		status = take_run(archive, stmt, err);
	if (status == CTX_OK && rc != SQLITE_DONE)
		status = ctx_statement_fail(archive->db, rc, archive->path, err);
	sqlite3_finalize(stmt);
	return status;
}

static enum ctx_status load(struct ctx_archive *archive, struct ctx_err *err)
{
	struct ctx_buf bytes CTX_AUTO_BUF = {0};
	enum ctx_status status = ctx_file_read(archive->path, CTX_ARCHIVE_BYTES_MAX, &bytes, err);

	if (status == CTX_OK)
		status = ctx_store_deserialize(archive->db, archive->path,
					       (struct ctx_bytes){bytes.bytes, bytes.n}, true, err);
	if (status == CTX_OK)
		status = ctx_statement_exec(archive->db, archive->path, "PRAGMA cell_size_check = ON", err);
	if (status == CTX_OK)
		status = check_schema(archive, err);
	return status == CTX_OK ? read_runs(archive, err) : status;
}

enum ctx_status ctx_archive_open(const char *path, struct ctx_archive **ret, struct ctx_err *err)
{
	struct ctx_store_header header;
	struct ctx_archive *archive;
	enum ctx_status status = ctx_store_header_read(path, &header, err);

	if (status != CTX_OK)
		return status;
	if (header.application_id != APPLICATION_ID)
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not an archive of ctxan", path);
	if (header.user_version != VERSION)
		return ctx_err_set(err, CTX_E_VERSION, "%s: an archive of version %u, this program reads %d",
				   path, header.user_version, VERSION);
	status = make(path, &archive, err);
	if (status != CTX_OK)
		return status;
	status = load(archive, err);
	if (status != CTX_OK) {
		ctx_archive_close(archive);
		return status;
	}
	*ret = archive;
	return CTX_OK;
}

size_t ctx_archive_n(const struct ctx_archive *archive)
{
	return archive->n;
}

const struct ctx_archive_run *ctx_archive_run(const struct ctx_archive *archive, size_t i)
{
	return &archive->runs[i];
}

/* Unpacks a run's database. */
static enum ctx_status unpack(struct ctx_archive *archive, size_t i, struct ctx_buf *ret, struct ctx_err *err)
{
	const struct ctx_archive_run *run = &archive->runs[i];
	struct ctx_compressor compressor = {0};
	sqlite3_stmt *stmt = NULL;
	enum ctx_status status = ctx_statement_prepare(archive->db, archive->path,
						       "SELECT payload FROM run WHERE id = ?", &stmt, err);
	int rc;

	if (status != CTX_OK)
		return status;
	sqlite3_bind_int64(stmt, 1, (sqlite3_int64)i + 1);
	rc = sqlite3_step(stmt);
	if (rc == SQLITE_ROW) {
		struct ctx_bytes frame = {sqlite3_column_blob(stmt, 0),
					  (size_t)sqlite3_column_bytes(stmt, 0)};

		status = ctx_decompress(&compressor, frame, (size_t)run->raw_bytes, ret, err);
		if (status == CTX_OK && ctx_xxh3(ret->bytes, ret->n) != run->checksum)
			status = ctx_err_set(err, CTX_E_FORMAT, "its checksum is another");
	} else {
		status = ctx_statement_fail(archive->db, rc, archive->path, err);
	}
	ctx_compressor_deinit(&compressor);
	sqlite3_finalize(stmt);
	return status == CTX_OK ? CTX_OK
				: ctx_err_prefix(err, status, "%s: run %zu is damaged", archive->path, i + 1);
}

enum ctx_status ctx_archive_open_run(struct ctx_archive *archive, size_t i, struct ctx_store **ret,
				     struct ctx_err *err)
{
	struct ctx_buf image CTX_AUTO_BUF = {0};
	struct ctx_buf name CTX_AUTO_BUF = {0};
	enum ctx_status status = unpack(archive, i, &image, err);

	ctx_buf_printf(&name, "%s:%zu", archive->path, i + 1);
	ctx_buf_put_u8(&name, '\0');
	if (status == CTX_OK)
		status = ctx_buf_check(&name, err);
	if (status != CTX_OK)
		return status;
	return ctx_store_open_image((const char *)name.bytes, (struct ctx_bytes){image.bytes, image.n}, ret,
				    err);
}

/* ---- writing ---- */

static enum ctx_status check_new(const struct ctx_archive *archive, const struct ctx_archive_run *run,
				 struct ctx_bytes image, struct ctx_err *err)
{
	for (size_t i = 0; i < archive->n; i++) {
		if (strcmp(archive->runs[i].fingerprint, run->fingerprint) == 0)
			return ctx_err_set(
				err, CTX_E_ARG,
				"%s: run %zu (%s) is the same recording as %s: counted twice it would "
				"be false evidence",
				archive->path, i + 1, archive->runs[i].name, run->name);
	}
	if (archive->n == CTX_ARCHIVE_RUNS_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: an archive has at most %u runs", archive->path,
				   CTX_ARCHIVE_RUNS_MAX);
	if (image.n > CTX_ARCHIVE_BYTES_MAX)
		return ctx_err_set(err, CTX_E_LIMIT,
				   "%s: a run of an archive has at most %zu MB, this one %zu", run->name,
				   CTX_ARCHIVE_BYTES_MAX / 1000000, image.n / 1000000);
	return CTX_OK;
}

static enum ctx_status insert(struct ctx_archive *archive, const struct ctx_archive_run *run,
			      const struct ctx_buf *packed, struct ctx_err *err)
{
	sqlite3_stmt *stmt = NULL;
	enum ctx_status status = ctx_statement_prepare(
		archive->db, archive->path, "INSERT INTO run VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", &stmt, err);

	if (status != CTX_OK)
		return status;
	ctx_bind_u64(stmt, 1, archive->n + 1);
	ctx_bind_text(stmt, 2, run->name);
	ctx_bind_text(stmt, 3, run->fingerprint);
	ctx_bind_u64(stmt, 4, run->has_samples);
	ctx_bind_u64(stmt, 5, run->wall_ns);
	ctx_bind_u64(stmt, 6, run->samples);
	ctx_bind_u64(stmt, 7, run->raw_bytes);
	ctx_bind_u64(stmt, 8, run->checksum);
	ctx_bind_blob(stmt, 9, packed->bytes, packed->n);
	status = ctx_statement_run(stmt, archive->path, err);
	sqlite3_finalize(stmt);
	return status;
}

enum ctx_status ctx_archive_add(struct ctx_archive *archive, const struct ctx_archive_run *run,
				struct ctx_bytes image, struct ctx_err *err)
{
	struct ctx_buf packed CTX_AUTO_BUF = {0};
	struct ctx_compressor compressor = {0};
	struct ctx_archive_run copy = *run;
	enum ctx_status status = check_new(archive, run, image, err);

	if (status == CTX_OK)
		status = ctx_compress(&compressor, LEVEL, image, &packed, err);
	ctx_compressor_deinit(&compressor);
	copy.name = ctx_arena_strdup(&archive->arena, run->name);
	copy.fingerprint = ctx_arena_strdup(&archive->arena, run->fingerprint);
	if (status == CTX_OK && (copy.name == NULL || copy.fingerprint == NULL))
		status = ctx_err_nomem(err);
	if (status == CTX_OK)
		status = ctx_grow(&archive->runs, &archive->cap, archive->n + 1, err);
	if (status != CTX_OK)
		return status;
	copy.raw_bytes = image.n;
	copy.packed_bytes = packed.n;
	copy.checksum = ctx_xxh3(image.at, image.n);
	status = insert(archive, &copy, &packed, err);
	if (status == CTX_OK)
		archive->runs[archive->n++] = copy;
	return status;
}

enum ctx_status ctx_archive_write(struct ctx_archive *archive, struct ctx_err *err)
{
	sqlite3_int64 n = 0;
	unsigned char *bytes = sqlite3_serialize(archive->db, "main", &n, 0);
	enum ctx_status status;

	if (bytes == NULL)
		return ctx_err_nomem(err);
	status = (uint64_t)n > CTX_ARCHIVE_BYTES_MAX
			 ? ctx_err_set(err, CTX_E_LIMIT, "%s: an archive has at most %zu MB", archive->path,
				       CTX_ARCHIVE_BYTES_MAX / 1000000)
			 : ctx_file_replace(archive->path, bytes, (size_t)n, err);
	sqlite3_free(bytes);
	return status;
}

void ctx_archive_close(struct ctx_archive *archive)
{
	if (archive == NULL)
		return;
	sqlite3_close(archive->db);
	free(archive->runs);
	ctx_arena_deinit(&archive->arena);
	free(archive->path);
	free(archive);
}

enum ctx_status ctx_archive_lock(const char *path, int *ret_fd, struct ctx_err *err)
{
	char *directory CTX_AUTO_FREE = ctx_path_dir(path);
	int fd;

	if (directory == NULL)
		return ctx_err_nomem(err);
	fd = open(directory, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return ctx_err_errno(err, errno == ENOENT ? CTX_E_NOTFOUND : CTX_E_IO, "%s", path);
	while (flock(fd, LOCK_EX) != 0 && errno == EINTR)
		;
	*ret_fd = fd;
	return CTX_OK;
}
