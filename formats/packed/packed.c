#include "formats/packed/packed.h"

#include "base/fileio.h"
#include "base/mem.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAGIC_BYTES 6u
#define CHUNK_BYTES ((size_t)1 << 16)
#define BYTES_ALWAYS ((uint64_t)1 << 30) /* unpacked, whatever the ratio */
#define RATIO_MAX 100u

static const struct {
	const char *bytes;
	size_t n;
} magics[] = {{"\x1f\x8b\x08", 3},
	      {"\xfd"
	       "7zXZ\0",
	       6},
	      {"\x28\xb5\x2f\xfd", 4},
	      {"BZh", 3}};

bool ctx_packed_is(const char *path)
{
	uint64_t size;
	int fd CTX_AUTO_CLOSE = ctx_file_open_plain(path, &size);
	char bytes[MAGIC_BYTES] = {0};
	size_t got;

	if (fd < 0 ||
	    ctx_file_pread(&(struct ctx_file_place){fd, path, 0}, bytes, sizeof(bytes), &got, NULL) != CTX_OK)
		return false;
	for (size_t i = 0; i < CTX_COUNT_OF(magics); i++) {
		if (memcmp(bytes, magics[i].bytes, magics[i].n) == 0)
			return true;
	}
	return false;
}

static enum ctx_status fail(struct archive *archive, const char *path, struct ctx_err *err)
{
	const char *why = archive_error_string(archive);

	if (archive_errno(archive) == ENOMEM)
		return ctx_err_nomem(err);
	return ctx_err_set(err, CTX_E_FORMAT, "%s: cannot be unpacked: %s", path,
			   why != NULL ? why : "it is damaged");
}

/* Writes what is unpacked. */
static enum ctx_status copy(struct archive *archive, const char *path, uint64_t limit, int fd,
			    struct ctx_err *err)
{
	uint8_t *chunk CTX_AUTO_FREE = malloc(CHUNK_BYTES);
	uint64_t written = 0;

	if (chunk == NULL)
		return ctx_err_nomem(err);
	for (;;) {
		la_ssize_t n = archive_read_data(archive, chunk, CHUNK_BYTES);
		enum ctx_status status;

		if (n == 0)
			return CTX_OK;
		if (n < 0)
			return fail(archive, path, err);
		written += (uint64_t)n;
		if (written > limit)
			return ctx_err_set(err, CTX_E_LIMIT, "%s: unpacks to more than %llu bytes", path,
					   (unsigned long long)limit);
		status = ctx_file_write(fd, "a temporary file", chunk, (size_t)n, err);
		if (status != CTX_OK)
			return status;
	}
}

static enum ctx_status unpack(struct archive *archive, const char *path, int fd, struct ctx_err *err)
{
	struct archive_entry *entry;
	struct stat info;
	uint64_t limit = BYTES_ALWAYS;

	if (stat(path, &info) == 0 && (uint64_t)info.st_size > BYTES_ALWAYS / RATIO_MAX)
		limit = (uint64_t)info.st_size * RATIO_MAX;
	if (archive_read_support_format_raw(archive) < ARCHIVE_WARN ||
	    archive_read_support_filter_gzip(archive) < ARCHIVE_WARN ||
	    archive_read_support_filter_bzip2(archive) < ARCHIVE_WARN ||
	    archive_read_support_filter_xz(archive) < ARCHIVE_WARN ||
	    archive_read_support_filter_zstd(archive) < ARCHIVE_WARN)
		return ctx_err_nomem(err);
	if (archive_read_open_filename(archive, path, CHUNK_BYTES) != ARCHIVE_OK ||
	    archive_read_next_header(archive, &entry) != ARCHIVE_OK)
		return fail(archive, path, err);
	return copy(archive, path, limit, fd, err);
}

enum ctx_status ctx_packed_unpack(const char *path, const char *to, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	struct archive *archive;
	enum ctx_status status;

	if (fd < 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", to);
	archive = archive_read_new();
	status = archive != NULL ? unpack(archive, path, fd, err) : ctx_err_nomem(err);
	archive_read_free(archive);
	return status;
}
