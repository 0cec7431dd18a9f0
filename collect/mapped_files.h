/*
 * The files that recorded processes have mapped, opened as what was mapped.
 *
 * The path in a record is a claim of the process: by the time it is read, a link to somebody else's
 * file may stand there. So a file is opened
 *
 *	/proc/PID/map_files/BEGIN-END   the mapped inode itself (needs CAP_CHECKPOINT_RESTORE)
 *	/proc/PID/exe                   the same for the program
 *	/proc/PID/root + path           links stay below the process's root
 *	its parent's root, ours         when the process has ended
 *
 * first without reading it (O_PATH). It is read only if its device and inode, or the build id, are
 * those of the mapping, if it is a regular file, and with the rights of the process's user.
 *
 * Lists of JIT code (/tmp/perf-PID.map) are looked for in the process's own /tmp, by its innermost
 * pid, and must belong to its user or to root.
 */
#ifndef CTX_COLLECT_MAPPED_FILES_H
#define CTX_COLLECT_MAPPED_FILES_H

#include "base/buildid.h"
#include "base/err.h"
#include "collect/credentials.h"

#include <stdbool.h>
#include <stdint.h>

struct ctx_mapped_files;

CTX_MUST_CHECK enum ctx_status ctx_mapped_files_create(struct ctx_mapped_files **ret, struct ctx_err *err);
/*
 * Files on mounts of other mount namespaces are copied to this directory (borrowed) instead of being held
 * open: foreign_files.h. Default: they are held.
 */
void ctx_mapped_files_copy_to(struct ctx_mapped_files *files, const char *directory);
void ctx_mapped_files_destroy(struct ctx_mapped_files *files);

struct ctx_mapper {		 /* a process */
	int64_t pid, parent_pid; /* parent_pid 0: unknown */
	/*
	 * Its user as last seen, borrowed from the files; NULL: not yet. A process that has ended
	 * leaves its last known user, a forked one begins with its parent's.
	 */
	const struct ctx_credentials *user;
};

/* Reads the user of a process again. Without memory, or when it has ended, nothing changes. */
void ctx_mapped_files_see_user(struct ctx_mapped_files *files, struct ctx_mapper *mapper);

struct ctx_mapped_file { /* a mapping, as the kernel reports it */
	const char *path;
	uint64_t address, size;
	uint32_t major, minor; /* of the device */
	uint64_t inode;	       /* 0: not reported */
	const char *build_id;  /* "": not reported */
};

/*
 * Notes a mapping and gives its build id ("" none). A file that is known, open and unchanged costs a
 * look-up and an fstat. May update mapper->user. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_mapped_files_add(struct ctx_mapped_files *files, struct ctx_mapper *mapper,
						    const struct ctx_mapped_file *mapped,
						    char build_id[CTX_BUILDID_TEXT], struct ctx_err *err);

/* Notes a process with code in anonymous memory. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_mapped_files_add_jit(struct ctx_mapped_files *files,
							struct ctx_mapper *mapper, struct ctx_err *err);

/*
 * Opens a noted file for reading, by the path and build id of its maps; the caller closes it. -1
 * with the reason in `err` (may be NULL): never noted, refused, or gone.
 */
int ctx_mapped_files_open(struct ctx_mapped_files *files, const char *path, const char *build_id,
			  struct ctx_err *err);

/* The user who mapped it; NULL: not noted. */
const struct ctx_credentials *ctx_mapped_files_user(const struct ctx_mapped_files *files, const char *path,
						    const char *build_id);

/*
 * Hands out every noted file that can be opened, with a descriptor that is closed afterwards, in the order in which they were noted.
 * `take` returns false to end it.
 */
typedef bool ctx_mapped_files_fn(void *context, const char *path, int fd);
void ctx_mapped_files_each(struct ctx_mapped_files *files, ctx_mapped_files_fn *take, void *context);

#endif
