/*
 * Files: whole reads, whole writes, and nothing half made.
 *
 * Every function retries after EINTR and short transfers, and names the file in its error.
 */
#ifndef CTX_BASE_FILEIO_H
#define CTX_BASE_FILEIO_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Appends the whole file to `out`. Fails with CTX_E_NOTFOUND, CTX_E_FORMAT (no plain file),
 * CTX_E_IO, CTX_E_NOMEM, CTX_E_LIMIT (larger than max_bytes). */
CTX_MUST_CHECK enum ctx_status ctx_file_read(const char *path, size_t max_bytes, struct ctx_buf *out,
					     struct ctx_err *err);

/* The same from where an open file stands, whatever it is; `name` is for the message. */
CTX_MUST_CHECK enum ctx_status ctx_file_read_fd(int fd, const char *name, size_t max_bytes,
						struct ctx_buf *out, struct ctx_err *err);

/* Where to read. */
struct ctx_file_place {
	int fd;
	const char *name; /* for messages */
	uint64_t offset;  /* bytes from the begin of the file */
};

/* Reads exactly `n` bytes; fewer (end of file) is CTX_END, and `*ret_got` says how many. CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_file_pread(const struct ctx_file_place *place, void *bytes, size_t n,
					      size_t *ret_got, struct ctx_err *err);

/* Writes all `n` bytes at the file position. Fails with CTX_E_IO (disk full and the like). */
CTX_MUST_CHECK enum ctx_status ctx_file_write(int fd, const char *name, const void *bytes, size_t n,
					      struct ctx_err *err);

/* A file that is being written in place of what was there. */
struct ctx_file_writing {
	FILE *file;		/* to be written to */
	char *path, *temporary; /* owned */
};

/*
 * Begins to replace a file, or to make it: writes to a temporary name beside it, renamed by
 * commit, with the mode that it had. A link stays a link. What exists and is no plain file (a device,
 * a pipe) is written to and not replaced. After CTX_OK one of commit and abandon must
 * follow. CTX_E_ARG for a directory, CTX_E_NOTFOUND, CTX_E_PERM, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_file_begin(struct ctx_file_writing *writing, const char *path,
					      struct ctx_err *err);

/* Ends it: the file is there, whole. Whatever failed to be written is an error here, and then
 * nothing has changed. */
CTX_MUST_CHECK enum ctx_status ctx_file_commit(struct ctx_file_writing *writing, struct ctx_err *err);

/* Gives it up: what was there stays. */
void ctx_file_abandon(struct ctx_file_writing *writing);

/* The same for `n` bytes at once. */
CTX_MUST_CHECK enum ctx_status ctx_file_replace(const char *path, const void *bytes, size_t n,
						struct ctx_err *err);

/* A directory that is being filled, and appears when it is complete. */
struct ctx_dir_writing {
	char *path, *temporary; /* owned; to be filled is `temporary` */
};

/*
 * Makes an empty directory beside `path`, where nothing may be. After CTX_OK one of commit and
 * abandon must follow. CTX_E_ARG: there is something at `path`; CTX_E_NOTFOUND, CTX_E_PERM,
 * CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_dir_begin(struct ctx_dir_writing *writing, const char *path,
					     struct ctx_err *err);

/* Ends it: the directory is at its path. If that cannot be, nothing is left of it. */
CTX_MUST_CHECK enum ctx_status ctx_dir_commit(struct ctx_dir_writing *writing, struct ctx_err *err);

/* Gives it up: nothing is left. */
void ctx_dir_abandon(struct ctx_dir_writing *writing);

/* dir + "/" + name, malloc'ed (free()); NULL when memory is short. */
char *ctx_path_join(const char *dir, const char *name);

/* The part behind the last '/', borrowed. */
const char *ctx_path_base(const char *path);

/* What is in front of that, with its '/'; "." where there is none. malloc'ed (free()); NULL when
 * memory is short. */
char *ctx_path_dir(const char *path);

/* Removes a directory and all below it, not following links. A missing one is fine. */
CTX_MUST_CHECK enum ctx_status ctx_dir_remove(const char *path, struct ctx_err *err);

/* For __attribute__((cleanup)): int fd CTX_AUTO_CLOSE = -1; */
void ctx_close_cleanup(const int *fd);
#define CTX_AUTO_CLOSE __attribute__((cleanup(ctx_close_cleanup)))

#endif
