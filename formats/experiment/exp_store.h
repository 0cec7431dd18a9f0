/*
 * A store of compressed copies of load objects, shared by the recordings of a user: what was archived
 * once is linked into the next experiment, not read and compressed again.
 *
 * A directory of the user's own, mode 0700. A copy is named by what tells its original apart: build
 * id, device, inode, size, and times of the last change of contents and inode. Nobody but root can
 * set the latter, so a file with all of these is the same file; originals on file systems of which
 * that is not true (network, FUSE) are not stored. An experiment has hard links to the copies, or
 * copies of them on another file system; it is complete without the store.
 *
 * The store is best effort: where it cannot be used, objects are compressed as without it.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_STORE_H
#define CTX_FORMATS_EXPERIMENT_EXP_STORE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_EXP_STORE_KEY 96u

struct ctx_exp_store {
	int dir;	/* -1: there is none */
	bool has_grown; /* since it was opened */
};

/*
 * Opens the store at `path`, created with its parents if missing; NULL: the usual place
 * ($XDG_CACHE_HOME/ctxrec or ~/.cache/ctxrec; root: /var/cache/ctxrec). CTX_E_PERM: it belongs to
 * somebody else or others may write to it; CTX_E_IO. `ret` can be used (and closed) after a failure,
 * too: it has no store then.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_store_open(const char *path, struct ctx_exp_store *ret,
						  struct ctx_err *err);

/*
 * Closes it. Where it has grown beyond `max_bytes` the copies that were used least recently are
 * removed (experiments keep their links).
 */
void ctx_exp_store_close(struct ctx_exp_store *store, uint64_t max_bytes);

/* The key of an open load object; "" if it has none. */
void ctx_exp_store_key_of_file(int file, const char *build_id, char ret[CTX_EXP_STORE_KEY]);

/* Where a copy goes to, or comes from: archives/ of an experiment. */
struct ctx_exp_store_end {
	int archives;
	const char *name;
	unsigned mode; /* 0600: a link will do; other modes are copied */
};

/* A file of archives/ that is being written, under a temporary name: two processes may archive at once. */
struct ctx_exp_store_writing {
	int fd;
	const struct ctx_exp_store_end *to; /* borrowed */
	char temporary[CTX_EXP_STORE_KEY + 32];
};

/* After CTX_OK ctx_exp_store_end_writing must follow. CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_exp_store_begin_writing(const struct ctx_exp_store_end *to,
							   struct ctx_exp_store_writing *ret,
							   struct ctx_err *err);

/*
 * Closes the file and gives it its name; removes it unless `status` is CTX_OK, which is what has come
 * of the contents, and is returned then. CTX_E_IO.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_store_end_writing(struct ctx_exp_store_writing *writing,
							 enum ctx_status status, struct ctx_err *err);

/*
 * Puts the copy with this key into archives/. CTX_END: there is none, nothing was done. CTX_E_IO:
 * archives/ could not be written to, and has no part of it.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_store_take(struct ctx_exp_store *store, const char *key,
						  const struct ctx_exp_store_end *to, uint64_t *ret_bytes,
						  struct ctx_err *err);

/* Links a complete copy from archives/ into the store, if its mode is 0600. Failures are ignored. */
void ctx_exp_store_give(struct ctx_exp_store *store, const char *key, const struct ctx_exp_store_end *from);

#endif
