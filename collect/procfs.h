/*
 * Reads /proc of running processes: names, threads, mappings, resource use. A process can end at
 * any time: CTX_E_NOTFOUND then, which is not an error.
 */
#ifndef CTX_COLLECT_PROCFS_H
#define CTX_COLLECT_PROCFS_H

#include "base/buf.h"
#include "base/err.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_ids {	/* process or thread ids; all zero is a valid empty list */
	int64_t *items; /* owned */
	size_t n, cap;
};

/*
 * Whether a process exists; one that has ended does until its parent waits for it. A tenth of what looking for it in /proc
 * costs where it has gone.
 */
bool ctx_procfs_exists(int64_t pid);

void ctx_ids_deinit(struct ctx_ids *ids);
CTX_MUST_CHECK enum ctx_status ctx_ids_add(struct ctx_ids *ids, int64_t id, struct ctx_err *err);

/* Appends all processes, or all threads of one, in the order of the directory. */
CTX_MUST_CHECK enum ctx_status ctx_procfs_pids(struct ctx_ids *ids, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_procfs_tids(int64_t pid, struct ctx_ids *ids, struct ctx_err *err);

/* The name of a thread (tid 0: of the process). Cut to fit `name`. */
CTX_MUST_CHECK enum ctx_status ctx_procfs_comm(int64_t pid, int64_t tid, char *name, size_t size,
					       struct ctx_err *err);

/*
 * Joins arguments (each ended by a zero byte, `n` bytes in all) by spaces; arguments that a shell
 * would split are quoted. Appends to `out`, zero-terminated (the zero is not counted in out->n).
 */
void ctx_quote_arguments(const char *arguments, size_t n, struct ctx_buf *out);

/*
 * Appends the quoted command line, of which 4096 bytes are read, zero-terminated like above; nothing for kernel
 * threads. The title that a process has set for people, "postgres: checkpointer", is not quoted.
 */
CTX_MUST_CHECK enum ctx_status ctx_procfs_command(int64_t pid, struct ctx_buf *out, struct ctx_err *err);

struct ctx_procfs_map {
	uint64_t address, size, file_offset;
	uint64_t inode; /* 0: not of a file */
	uint32_t major, minor;
	uint32_t protection; /* PROT_* */
	const char *path;    /* borrowed from the text; "//anon" where the kernel has none */
};

/*
 * Parses the next executable mapping from the text of a maps file, which is modified; false at the
 * end. Malformed lines are skipped.
 */
bool ctx_procfs_next_map(char **text, struct ctx_procfs_map *ret);

/* The same of any mapping. */
bool ctx_procfs_next_range(char **text, struct ctx_procfs_map *ret);

/*
 * Appends the text of the maps file and a zero byte. CTX_END: it has more than 64 MiB, of which the
 * first lines were appended.
 */
CTX_MUST_CHECK enum ctx_status ctx_procfs_maps(int64_t pid, struct ctx_buf *out, struct ctx_err *err);

/* Fills all but time_ns and process. Values that this user may not read (io of others) stay 0. */
CTX_MUST_CHECK enum ctx_status ctx_procfs_usage(int64_t pid, struct ctx_usage_info *ret, struct ctx_err *err);

/*
 * The namespace of a kind ("pid", "mnt", ...) of a process, by its inode; pid 0: this process. 0: unknown, and errno says
 * why. A stat.
 */
uint64_t ctx_procfs_namespace(int64_t pid, const char *kind);

/* Replaces `out` by the text of /proc/PID/`file` and a zero byte. */
CTX_MUST_CHECK enum ctx_status ctx_procfs_text(int64_t pid, const char *file, struct ctx_buf *out,
					       struct ctx_err *err);

#endif
