/*
 * The inside of a symbol table, for the files that fill it: elf_symtab.c, kernel_symtab.c,
 * perf_map.c.
 *
 * A table consists of the executable segments (file offset -> address), the frozen symbol set
 * (address -> entry), and one lazily filled pair of readable names for each entry.
 */
#ifndef CTX_SYMBOLS_SYMTAB_TABLE_H
#define CTX_SYMBOLS_SYMTAB_TABLE_H

#include "base/arena.h"
#include "base/buf.h"
#include "elf/elf_file.h"
#include "symbols/clones.h"
#include "symbols/symset.h"

struct ctx_symtab_readable { /* NULL until asked for */
	const char *name;
	const char *aliases;
};

struct ctx_symtab { /* all zero except `origin` is a valid table without symbols, once it is frozen */
	struct ctx_symset set;
	struct ctx_symtab_readable *readable; /* by entry */
	struct ctx_clones clones;
	struct ctx_arena arena;
	struct ctx_elf_segment *segments; /* owned */
	size_t n_segments;
	const char *origin; /* a constant, or in the arena */
	char build_id[CTX_BUILDID_TEXT];
	bool flat; /* no segments: file offsets and `to_address` are addresses */
	uint64_t to_address;
};

/*
 * Freezes the set: no more symbols can be added, and the sources of borrowed names may be released.
 */
CTX_MUST_CHECK enum ctx_status ctx_symtab_freeze(struct ctx_symtab *table, struct ctx_err *err);

/*
 * Sets the origin "none: <reasons>"; `reasons` gets a zero byte at its end. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_symtab_set_reasons(struct ctx_symtab *table, struct ctx_buf *reasons,
						      struct ctx_err *err);

void ctx_symtab_free(struct ctx_symtab *table);
void ctx_symtab_free_cleanup(struct ctx_symtab **table); /* for CTX_CLEANUP */

#endif
