/*
 * What /proc tells about processes that run: names, threads, mappings, resource use. Every call may find the
 * process gone: that is CTX_E_NOTFOUND and no fault.
 */
#ifndef CTX_COLLECT_PROCFS_H
#define CTX_COLLECT_PROCFS_H

#include "base/buf.h"
#include "base/buildid.h"
#include "base/err.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_ids {	/* process or thread ids; all zero is a valid empty list */
	int64_t *items; /* owned */
	size_t n, cap;
};

void ctx_ids_deinit(struct ctx_ids *ids);
CTX_MUST_CHECK enum ctx_status ctx_ids_add(struct ctx_ids *ids, int64_t id, struct ctx_err *err);

/* Appends all processes, or all threads of one, in the order of the directory. */
CTX_MUST_CHECK enum ctx_status ctx_procfs_pids(struct ctx_ids *ids, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_procfs_tids(int64_t pid, struct ctx_ids *ids, struct ctx_err *err);

/* The name of a thread (tid 0: of the process). Cut to fit `name`. */
CTX_MUST_CHECK enum ctx_status ctx_procfs_comm(int64_t pid, int64_t tid, char *name, size_t size,
					       struct ctx_err *err);

/*
 * Joins arguments (each ended by a zero byte, `n` bytes in all) by spaces; what the shell would take apart is
 * quoted. Appends to `out`, zero-terminated (the zero is not counted in out->n).
 */
void ctx_quote_arguments(const char *arguments, size_t n, struct ctx_buf *out);

/* Appends the quoted command line; nothing for kernel threads. */
CTX_MUST_CHECK enum ctx_status ctx_procfs_command(int64_t pid, struct ctx_buf *out, struct ctx_err *err);

struct ctx_procfs_map {
	uint64_t address, size, file_offset;
	uint32_t protection; /* PROT_* */
	const char *path;    /* borrowed from the text; "//anon" where the kernel has none */
};

/*
 * Takes the next executable mapping out of the text of a maps file, which is cut up on the way; false at the
 * end. Lines that are none are skipped.
 */
bool ctx_procfs_next_map(char **text, struct ctx_procfs_map *ret);

/* Appends the text of the maps file and a zero byte. */
CTX_MUST_CHECK enum ctx_status ctx_procfs_maps(int64_t pid, struct ctx_buf *out, struct ctx_err *err);

/* Fills all but time_ns and process. What this user may not read (io of others) stays 0. */
CTX_MUST_CHECK enum ctx_status ctx_procfs_usage(int64_t pid, struct ctx_usage_info *ret, struct ctx_err *err);

/*
 * The GNU build id of an ELF file as lower-case hex ("" when it has none, is no ELF file, or cannot be read).
 * `pid`: look from inside this process's root directory first; 0: from ours.
 */
void ctx_elf_build_id(int64_t pid, const char *path, char text[CTX_BUILDID_TEXT]);

#endif
