/*
 * Where functions begin and end, from the unwind tables (.eh_frame), which stripped files keep.
 */
#ifndef CTX_SYMBOLS_FDE_RANGES_H
#define CTX_SYMBOLS_FDE_RANGES_H

#include "elf/elf_file.h"
#include "symbols/symset.h"

/*
 * Adds to the set the range of every function of .eh_frame that begins in an executable section,
 * cut at the end of the section. A file without .eh_frame (a debug file has an empty one) adds
 * none; of a damaged one the entries before the damage are added. O(bytes of the section). Fails
 * with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_fde_ranges_add(const struct ctx_elf_file *file, struct ctx_symset *set,
						  struct ctx_err *err);

#endif
