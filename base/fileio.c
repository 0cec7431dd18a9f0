#include "base/fileio.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define READ_STEP ((size_t)256 * 1024)

void ctx_close_cleanup(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static enum ctx_status open_error(struct ctx_err *err, const char *path)
{
	enum ctx_status status = CTX_E_IO;

	if (errno == ENOENT || errno == ENOTDIR)
		status = CTX_E_NOTFOUND;
	else if (errno == EACCES || errno == EPERM)
		status = CTX_E_PERM;
	return ctx_err_errno(err, status, "%s", path);
}

enum ctx_status ctx_file_read(const char *path, size_t max_bytes, struct ctx_buf *out, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat info;

	if (fd < 0)
		return open_error(err, path);
	/* A pipe or a device in the place of a file could make us wait. */
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a plain file", path);
	return ctx_file_read_fd(fd, path, max_bytes, out, err);
}

enum ctx_status ctx_file_read_fd(int fd, const char *name, size_t max_bytes, struct ctx_buf *out,
				 struct ctx_err *err)
{
	size_t before = out->n;

	for (;;) {
		uint8_t *room = ctx_buf_reserve(out, READ_STEP);
		ssize_t got;

		if (room == NULL)
			return ctx_err_nomem(err);
		got = read(fd, room, READ_STEP);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ctx_err_errno(err, CTX_E_IO, "%s", name);
		if (got == 0)
			return CTX_OK;
		out->n += (size_t)got;
		if (out->n - before > max_bytes)
			return ctx_err_set(err, CTX_E_LIMIT, "%s: larger than %zu bytes", name, max_bytes);
	}
}

enum ctx_status ctx_file_pread(int fd, const char *name, void *bytes, size_t n, uint64_t offset,
			       size_t *ret_got, struct ctx_err *err)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got = pread(fd, (uint8_t *)bytes + done, n - done, (off_t)(offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ctx_err_errno(err, CTX_E_IO, "%s: offset %llu", name,
					     (unsigned long long)offset + done);
		if (got == 0)
			break;
		done += (size_t)got;
	}
	*ret_got = done;
	return done == n ? CTX_OK : CTX_END;
}

enum ctx_status ctx_file_write(int fd, const char *name, const void *bytes, size_t n, struct ctx_err *err)
{
	size_t done = 0;

	while (done < n) {
		ssize_t put = write(fd, (const uint8_t *)bytes + done, n - done);

		if (put < 0 && errno == EINTR)
			continue;
		if (put < 0)
			return ctx_err_errno(err, CTX_E_IO, "%s: write", name);
		done += (size_t)put;
	}
	return CTX_OK;
}

/* What is no plain file (a device, a pipe) is written to; it is never replaced. */
static enum ctx_status write_in_place(const char *path, const void *bytes, size_t n, struct ctx_err *err)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);
	enum ctx_status status;

	if (fd < 0)
		return open_error(err, path);
	status = ctx_file_write(fd, path, bytes, n, err);
	if (close(fd) != 0 && status == CTX_OK)
		status = ctx_err_errno(err, CTX_E_IO, "%s: close", path);
	return status;
}

static enum ctx_status replace_plain(const char *path, const void *bytes, size_t n, mode_t mode,
				     struct ctx_err *err)
{
	char *temporary CTX_AUTO_FREE = NULL;
	enum ctx_status status;
	int fd;

	if (asprintf(&temporary, "%s.%ld.tmp", path, (long)getpid()) < 0) {
		temporary = NULL;
		return ctx_err_nomem(err);
	}
	fd = open(temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC, mode);
	if (fd < 0)
		return open_error(err, path);
	status = ctx_file_write(fd, path, bytes, n, err);
	if (close(fd) != 0 && status == CTX_OK)
		status = ctx_err_errno(err, CTX_E_IO, "%s: close", path);
	if (status == CTX_OK && rename(temporary, path) != 0)
		status = ctx_err_errno(err, CTX_E_IO, "%s: rename", path);
	if (status != CTX_OK)
		unlink(temporary);
	return status;
}

enum ctx_status ctx_file_replace(const char *path, const void *bytes, size_t n, struct ctx_err *err)
{
	char *target CTX_AUTO_FREE = NULL;
	struct stat info;

	if (stat(path, &info) != 0)
		return replace_plain(path, bytes, n, 0644, err);
	if (S_ISDIR(info.st_mode)) {
		errno = EISDIR;
		return ctx_err_errno(err, CTX_E_ARG, "%s", path);
	}
	if (!S_ISREG(info.st_mode))
		return write_in_place(path, bytes, n, err);
	/* A link stays one: what it leads to is replaced, and keeps its mode. */
	target = realpath(path, NULL);
	if (target == NULL)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	return replace_plain(target, bytes, n, info.st_mode & 07777, err);
}

char *ctx_path_join(const char *dir, const char *name)
{
	char *path;
	size_t n = strlen(dir);

	while (n > 1 && dir[n - 1] == '/')
		n--;
	if (asprintf(&path, "%.*s%s%s", (int)n, dir, n == 1 && dir[0] == '/' ? "" : "/", name) < 0)
		return NULL;
	return path;
}

const char *ctx_path_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

static int remove_one(const char *path, const struct stat *info, int type, struct FTW *where)
{
	(void)info;
	(void)type;
	(void)where;
	return remove(path);
}

enum ctx_status ctx_dir_remove(const char *path, struct ctx_err *err)
{
	if (nftw(path, remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0 && errno != ENOENT)
		return ctx_err_errno(err, CTX_E_IO, "%s: remove", path);
	return CTX_OK;
}
