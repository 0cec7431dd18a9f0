/*
 * The text files of an experiment, log.xml and map.xml, as they lie on disk: plain while they are
 * written, and packed (log.xml.zst, map.xml.zst: one zstd frame) when a recording is closed in order and
 * they are large.
 *
 *	NAME  --append, append, ...--> closed --> NAME.tmp --rename--> NAME.zst, NAME is removed
 *
 * So a file is plain, or packed and whole, or both: then the plain one counts.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_TEXT_H
#define CTX_FORMATS_EXPERIMENT_EXP_TEXT_H

#include <stdbool.h>

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
 * Packs a text file of the directory if that is worth it; of `share`, others may read it. When anything
 * goes wrong it stays plain.
 */
void ctx_exp_pack_text(int dir, const char *name, unsigned mode);

#endif
