/*
 * What the recorder shares with all traced processes in one memory file, of which they know load objects by device and inode.
 */
#ifndef CTX_COLLECT_SHARED_FILE_H
#define CTX_COLLECT_SHARED_FILE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define CTX_SHARED_OBJECTS_MAX 64u

struct ctx_shared_object {
	char *path; /* owned */
	uint64_t device, inode;
};

struct ctx_shared_objects {		 /* all zero is a valid empty list */
	struct ctx_shared_object *items; /* owned */
	size_t n, cap;
};

void ctx_shared_objects_deinit(struct ctx_shared_objects *objects);

/* The number of a file, which is added if it is new. Fails with CTX_E_IO, CTX_E_LIMIT (`what`: of too many load objects), CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_shared_objects_find(struct ctx_shared_objects *objects, const char *path,
						       const char *what, uint32_t *ret, struct ctx_err *err);

/*
 * Makes a memory file that is zero and keeps its size, and maps it. `*ret_fd` and `*ret_memory` are the caller's, to be closed and
 * unmapped. Fails with CTX_E_IO, CTX_E_NOMEM; `what` is in the message.
 */
CTX_MUST_CHECK enum ctx_status ctx_shared_file_make(const char *what, uint64_t bytes, int *ret_fd,
						    void **ret_memory, struct ctx_err *err);

#endif
