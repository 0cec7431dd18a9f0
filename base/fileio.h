/*
 * Files: whole reads, whole writes, atomic replacement.
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

/* Appends the whole file to `out`. Fails with CTX_E_NOTFOUND, CTX_E_FORMAT (not a regular file),
 * CTX_E_IO, CTX_E_NOMEM, CTX_E_LIMIT (larger than max_bytes). */
CTX_MUST_CHECK enum ctx_status ctx_file_read(const char *path, size_t max_bytes, struct ctx_buf *out,
					     struct ctx_err *err);

/* The same from the position of an open file of any type; `name` is for the message. */
CTX_MUST_CHECK enum ctx_status ctx_file_read_fd(int fd, const char *name, size_t max_bytes,
						struct ctx_buf *out, struct ctx_err *err);

/*
 * Opens a regular file for reading, and says its size in bytes. -1 and errno: it cannot be opened, or is no regular one
 * (EINVAL). Opening a pipe does not wait.
 */
int ctx_file_open_plain(const char *path, uint64_t *ret_size);

/* The same as a stream; NULL and errno. */
FILE *ctx_file_open_plain_stream(const char *path);

/* Where to read. */
struct ctx_file_place {
	int fd;
	const char *name; /* for messages */
	uint64_t offset;  /* bytes from the begin of the file */
};

/*
 * Reads exactly `n` bytes; fewer (end of file) is CTX_END, and `*ret_got` says how many. CTX_E_IO.
 */
CTX_MUST_CHECK enum ctx_status ctx_file_pread(const struct ctx_file_place *place, void *bytes, size_t n,
					      size_t *ret_got, struct ctx_err *err);

/*
 * The first offset from `offset` on that holds data; UINT64_MAX: only a hole follows. `offset` itself
 * where the file system does not tell, so that holes are read as zeros.
 */
uint64_t ctx_file_next_data(int fd, uint64_t offset);

/* Writes all `n` bytes at the file position. Fails with CTX_E_IO (disk full and the like). */
CTX_MUST_CHECK enum ctx_status ctx_file_write(int fd, const char *name, const void *bytes, size_t n,
					      struct ctx_err *err);

/* A file being written, which replaces the old one. */
struct ctx_file_writing {
	FILE *file;		/* to be written to */
	char *path, *temporary; /* owned */
};

/*
 * Begins to replace or create a file: writes to a temporary name beside it, renamed by commit, with
 * the mode of the old file. A link stays a link. An existing file that is not a regular one (a
 * device, a pipe) is written to and not replaced. After CTX_OK one of commit and abandon must
 * follow. CTX_E_ARG for a directory, CTX_E_NOTFOUND, CTX_E_PERM, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_file_begin(struct ctx_file_writing *writing, const char *path,
					      struct ctx_err *err);

/*
 * Completes the file. A failed write is reported here at the latest, and then the old file is
 * unchanged.
 */
CTX_MUST_CHECK enum ctx_status ctx_file_commit(struct ctx_file_writing *writing, struct ctx_err *err);

/* Abandons the new file; the old one stays. */
void ctx_file_abandon(struct ctx_file_writing *writing);

/* The same for `n` bytes at once. */
CTX_MUST_CHECK enum ctx_status ctx_file_replace(const char *path, const void *bytes, size_t n,
						struct ctx_err *err);

/* A directory being filled, which appears when it is complete. */
struct ctx_dir_writing {
	char *path, *temporary; /* owned; `temporary` is the one to fill */
};

/*
 * Creates an empty directory beside `path`, which must not exist. After CTX_OK one of commit and
 * abandon must follow. CTX_E_ARG: `path` exists; CTX_E_NOTFOUND, CTX_E_PERM,
 * CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_dir_begin(struct ctx_dir_writing *writing, const char *path,
					     struct ctx_err *err);

/* Moves the directory to its path. On failure it is removed. */
CTX_MUST_CHECK enum ctx_status ctx_dir_commit(struct ctx_dir_writing *writing, struct ctx_err *err);

/* Removes the directory. */
void ctx_dir_abandon(struct ctx_dir_writing *writing);

/* dir + "/" + name, malloc'ed (free()); NULL: out of memory. */
char *ctx_path_join(const char *dir, const char *name);

/* The part after the last '/', borrowed. */
const char *ctx_path_base(const char *path);

/* The part before that, with its '/'; "." if empty. malloc'ed (free()); NULL: out of memory. */
char *ctx_path_dir(const char *path);

/* Removes a directory and all below it, not following links. A missing one is not an error. */
CTX_MUST_CHECK enum ctx_status ctx_dir_remove(const char *path, struct ctx_err *err);

/* For __attribute__((cleanup)): int fd CTX_AUTO_CLOSE = -1; */
void ctx_close_cleanup(const int *fd);
#define CTX_AUTO_CLOSE __attribute__((cleanup(ctx_close_cleanup)))

#endif
