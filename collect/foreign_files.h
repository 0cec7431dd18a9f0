/*
 * Files on mounts that the recorder does not have itself: an open one keeps a mount of the target's mount
 * namespace busy, so that the target could not unmount it while it is recorded. The recorder holds the same
 * file of its own namespace instead, or a copy without a name in a directory of its own.
 */
#ifndef CTX_COLLECT_FOREIGN_FILES_H
#define CTX_COLLECT_FOREIGN_FILES_H

#include <stdbool.h>
#include <stdint.h>

struct ctx_foreign_files {
	const char *directory; /* for copies; borrowed; NULL: none are made */
	uint64_t copied_bytes; /* at most 1 GiB in all, files of at most 64 MiB */
	uint64_t own_namespace;
};

/*
 * Whether a process is known to be in this process's mount namespace: then its mounts are our own. A stat.
 */
bool ctx_foreign_files_is_own(struct ctx_foreign_files *foreign, int64_t pid);

/*
 * A copy of an open file that has the same bytes and mode, open for reading at its begin, and no name. -1:
 * too large, no room, or the directory's file system has no such files. Some 0.5 ms per MB.
 */
int ctx_foreign_files_copy(struct ctx_foreign_files *foreign, int file);

#endif
