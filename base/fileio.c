#include "base/fileio.h"

#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef CTX_SANITIZED
#define READ_STEP                                                                                            \
	((size_t)64 * 1024) /* larger blocks cost the sanitizers' allocator system calls and page faults */
#else
#define READ_STEP ((size_t)256 * 1024)
#endif

void ctx_close_cleanup(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

int ctx_file_open_plain(const char *path, uint64_t *ret_size)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat info;

	if (fd < 0)
		return -1;
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode)) {
		close(fd);
		errno = EINVAL;
		return -1;
	}
	*ret_size = (uint64_t)info.st_size;
	return fd;
}

FILE *ctx_file_open_plain_stream(const char *path)
{
	uint64_t size;
	int fd = ctx_file_open_plain(path, &size);
	FILE *file = fd >= 0 ? fdopen(fd, "r") : NULL;

	if (file == NULL && fd >= 0)
		close(fd);
	return file;
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

static enum ctx_status too_large(struct ctx_err *err, const char *name, size_t max_bytes)
{
	return ctx_err_set(err, CTX_E_LIMIT, "%s: larger than %zu bytes", name, max_bytes);
}

enum ctx_status ctx_file_read(const char *path, size_t max_bytes, struct ctx_buf *out, struct ctx_err *err)
{
	int fd CTX_AUTO_CLOSE = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
	struct stat info;

	if (fd < 0)
		return open_error(err, path);
	/* Opening a pipe or a device instead of a file could block. */
	if (fstat(fd, &info) != 0 || !S_ISREG(info.st_mode))
		return ctx_err_set(err, CTX_E_FORMAT, "%s: not a plain file", path);
	if ((uint64_t)info.st_size > max_bytes)
		return too_large(err, path, max_bytes);
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
			return too_large(err, name, max_bytes);
	}
}

enum ctx_status ctx_file_pread(const struct ctx_file_place *place, void *bytes, size_t n, size_t *ret_got,
			       struct ctx_err *err)
{
	size_t done = 0;

	while (done < n) {
		ssize_t got =
			pread(place->fd, (uint8_t *)bytes + done, n - done, (off_t)(place->offset + done));

		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return ctx_err_errno(err, CTX_E_IO, "%s: offset %llu", place->name,
					     (unsigned long long)place->offset + done);
		if (got == 0)
			break;
		done += (size_t)got;
	}
	*ret_got = done;
	return done == n ? CTX_OK : CTX_END;
}

uint64_t ctx_file_next_data(int fd, uint64_t offset)
{
	off_t found;

	if (offset > INT64_MAX)
		return UINT64_MAX;
	found = lseek(fd, (off_t)offset, SEEK_DATA);
	if (found >= 0)
		return (uint64_t)found;
	return errno == ENXIO ? UINT64_MAX : offset;
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

/*
 * Where to write instead of `path`: itself if it is not a regular file (a device, a pipe), a name
 * beside it otherwise.
 */
static enum ctx_status choose_place(struct ctx_file_writing *writing, const char *path, mode_t *ret_mode,
				    struct ctx_err *err)
{
	struct stat info;

	*ret_mode = 0644;
	if (stat(path, &info) != 0) {
		writing->path = strdup(path);
	} else if (S_ISDIR(info.st_mode)) {
		errno = EISDIR;
		return ctx_err_errno(err, CTX_E_ARG, "%s", path);
	} else if (!S_ISREG(info.st_mode)) {
		writing->path = strdup(path);
		return writing->path != NULL ? CTX_OK : ctx_err_nomem(err);
	} else {
		/* A link is kept: its target is replaced, and keeps its mode. */
		*ret_mode = info.st_mode & 07777;
		writing->path = realpath(path, NULL);
		if (writing->path == NULL)
			return ctx_err_errno(err, CTX_E_IO, "%s", path);
	}
	if (writing->path == NULL ||
	    asprintf(&writing->temporary, "%s.%ld.tmp", writing->path, (long)getpid()) < 0) {
		writing->temporary = NULL;
		return ctx_err_nomem(err);
	}
	return CTX_OK;
}

enum ctx_status ctx_file_begin(struct ctx_file_writing *writing, const char *path, struct ctx_err *err)
{
	mode_t mode;
	int fd;
	enum ctx_status status;

	*writing = (struct ctx_file_writing){0};
	status = choose_place(writing, path, &mode, err);
	if (status == CTX_OK) {
		fd = writing->temporary != NULL
			     ? open(writing->temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,
				    mode)
			     : open(writing->path, O_WRONLY | O_CLOEXEC);
		if (fd < 0)
			status = open_error(err, path);
		else if ((writing->file = fdopen(fd, "w")) == NULL) {
			close(fd);
			status = ctx_err_nomem(err);
		}
	}
	if (status != CTX_OK)
		ctx_file_abandon(writing);
	return status;
}

enum ctx_status ctx_file_commit(struct ctx_file_writing *writing, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (fflush(writing->file) != 0 || ferror(writing->file))
		status = ctx_err_errno(err, CTX_E_IO, "%s: write", writing->path);
	if (fclose(writing->file) != 0 && status == CTX_OK)
		status = ctx_err_errno(err, CTX_E_IO, "%s: close", writing->path);
	writing->file = NULL;
	if (status == CTX_OK && writing->temporary != NULL) {
		if (rename(writing->temporary, writing->path) != 0)
			status = ctx_err_errno(err, CTX_E_IO, "%s: rename", writing->path);
		if (status == CTX_OK) {
			free(writing->temporary); /* nothing to take back any more */
			writing->temporary = NULL;
		}
	}
	ctx_file_abandon(writing);
	return status;
}

void ctx_file_abandon(struct ctx_file_writing *writing)
{
	if (writing->file != NULL)
		fclose(writing->file);
	if (writing->temporary != NULL)
		unlink(writing->temporary);
	free(writing->temporary);
	free(writing->path);
	*writing = (struct ctx_file_writing){0};
}

enum ctx_status ctx_file_replace(const char *path, const void *bytes, size_t n, struct ctx_err *err)
{
	struct ctx_file_writing writing;
	enum ctx_status status = ctx_file_begin(&writing, path, err);

	if (status != CTX_OK)
		return status;
	fwrite(bytes, 1, n, writing.file); /* errors here are found by commit */
	return ctx_file_commit(&writing, err);
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

char *ctx_path_dir(const char *path)
{
	size_t n = (size_t)(ctx_path_base(path) - path);

	return n != 0 ? ctx_memdup0(path, n) : strdup(".");
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

enum ctx_status ctx_dir_begin(struct ctx_dir_writing *writing, const char *path, struct ctx_err *err)
{
	struct stat info;
	size_t n = strlen(path);
	enum ctx_status status = CTX_OK;

	*writing = (struct ctx_dir_writing){0};
	while (n > 1 && path[n - 1] == '/')
		n--;
	if (lstat(path, &info) == 0)
		return ctx_err_set(err, CTX_E_ARG, "%s: is there already, and not overwritten", path);
	writing->path = ctx_memdup0(path, n);
	if (writing->path == NULL ||
	    asprintf(&writing->temporary, "%s.%ld.tmp", writing->path, (long)getpid()) < 0) {
		writing->temporary = NULL;
		status = ctx_err_nomem(err);
	} else if (mkdir(writing->temporary, 0777) != 0) {
		status = open_error(err, path);
		free(writing->temporary); /* not created here: not removed */
		writing->temporary = NULL;
	}
	if (status != CTX_OK)
		ctx_dir_abandon(writing);
	return status;
}

enum ctx_status ctx_dir_commit(struct ctx_dir_writing *writing, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	/*
	 * Does not replace an empty directory created meanwhile, if the file system supports that.
	 */
	if (renameat2(AT_FDCWD, writing->temporary, AT_FDCWD, writing->path, RENAME_NOREPLACE) != 0 &&
	    (errno == EEXIST || rename(writing->temporary, writing->path) != 0))
		status = ctx_err_errno(err, CTX_E_IO, "%s: rename", writing->path);
	if (status == CTX_OK) {
		free(writing->temporary); /* nothing to take back any more */
		writing->temporary = NULL;
	}
	ctx_dir_abandon(writing);
	return status;
}

void ctx_dir_abandon(struct ctx_dir_writing *writing)
{
	enum ctx_status status = CTX_OK;

	if (writing->temporary != NULL)
		status = ctx_dir_remove(writing->temporary, NULL);
	(void)status; /* errors are ignored */
	free(writing->temporary);
	free(writing->path);
	*writing = (struct ctx_dir_writing){0};
}
