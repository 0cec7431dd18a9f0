/*
 * Files of an experiment as they lie on disk: plain while they are written, and packed (log.xml.zst: one
 * zstd frame) when the recording is closed in order and it is worth it.
 *
 *	NAME  --append, append, ...--> closed --> NAME.tmp --rename--> NAME.zst, NAME is removed
 *
 * So a file is plain, or packed and whole, or both: then the plain one counts. Texts are read as a
 * stream; data files, which are read in any order, are unpacked to memory.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_TEXT_H
#define CTX_FORMATS_EXPERIMENT_EXP_TEXT_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

#define CTX_EXP_LOG_FILE "log.xml"
#define CTX_EXP_MAP_FILE "map.xml"
#define CTX_EXP_PACKED_END ".zst"
#define CTX_EXP_PACKING_END ".tmp"

/*
 * Opens a regular file in the experiment, or returns -1 (errno). Does not follow links, does not block on
 * a pipe.
 */
int ctx_exp_open_file(int dir, const char *name);

/* The same for a text file, packed if it is not there plain. */
int ctx_exp_open_text(int dir, const char *name, bool *ret_is_packed);

/*
 * Packs a text file of the directory if that is worth it. `mode`: of the packed one. When anything goes
 * wrong it stays plain.
 */
void ctx_exp_pack_text(int dir, const char *name, unsigned mode);

/* Larger data files are not packed: a reader has what is unpacked in memory. */
#define CTX_EXP_PACKED_DATA_MAX ((size_t)16 << 20)

/*
 * The same for a data file of the root process. Blocks are compressed already, but those of many short
 * processes are small, and their headers are alike.
 */
void ctx_exp_pack_data(int dir, const char *name, unsigned mode);

/* The number, below CTX_EXP_PACKED_DATA_FILES, of a data file that may be packed; of others that. */
#define CTX_EXP_PACKED_DATA_FILES 4u
size_t ctx_exp_packed_data(const char *name);

/*
 * Unpacks a data file to a file in memory, which the caller closes. CTX_E_FORMAT: damaged; `*ret` has what
 * is good. Others, without a file: CTX_E_LIMIT, CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_exp_unpack_data(int packed, int *ret, struct ctx_err *err);

#endif
