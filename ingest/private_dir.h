/*
 * Temporary directories with access for this user only. Those left by a killed process are removed
 * by the next one that creates such a directory.
 */
#ifndef CTX_INGEST_PRIVATE_DIR_H
#define CTX_INGEST_PRIVATE_DIR_H

#include "base/err.h"

/* {.fd = -1} is empty. */
struct ctx_private_dir {
	char *path; /* absolute where $TMPDIR is; NULL: none */
	int fd;	    /* locked while the directory is in use */
};

/*
 * Makes an empty one below $TMPDIR, or /tmp. Owned by the caller. Fails with CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_private_dir_create(struct ctx_private_dir *ret, struct ctx_err *err);

/* Removes it and all that is in it. */
void ctx_private_dir_remove(struct ctx_private_dir *dir);

#endif
