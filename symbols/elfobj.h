/*
 * ELF object: what symbol tables need of one ELF file, through libelf.
 *
 * Plain files are read by section (nothing is mapped: a file that shrinks meanwhile is a read error, not a
 * signal); archives are unpacked in memory.
 */
#ifndef CTX_SYMBOLS_ELFOBJ_H
#define CTX_SYMBOLS_ELFOBJ_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "symbols/symset.h"

#include <libelf.h>
#include <stdbool.h>
#include <stdint.h>

#define CTX_BUILD_ID_TEXT_MAX 129 /* 64 bytes in hex, and the zero */

struct ctx_elfobj_range {
	uint64_t offset; /* in the file */
	uint64_t address;
	uint64_t size; /* bytes, never 0; address + size and offset + size do not overflow */
};

struct ctx_elfobj {	      /* all zero with fd -1 is a valid closed object */
	struct ctx_buf image; /* of an object in memory */
	int fd;
	Elf *elf;
	uint16_t machine;
	char build_id[CTX_BUILD_ID_TEXT_MAX];
	struct ctx_elfobj_range *segments; /* executable, with bytes in the file; owned */
	size_t segment_n, segments_cap;
	struct ctx_elfobj_range *sections; /* executable, by address; owned */
	size_t section_n, sections_cap;
	struct ctx_arena names; /* those that are not in the file as they stand */
};

/* Opens a plain file. `obj` is zeroed first; close it whatever the result. Fails with CTX_E_NOTFOUND,
 * CTX_E_PERM, CTX_E_IO, CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_elfobj_open_path(struct ctx_elfobj *obj, const char *path,
						    struct ctx_err *err);

/* Opens an archived copy (zstd or plain). As above, and CTX_E_LIMIT. */
CTX_MUST_CHECK enum ctx_status ctx_elfobj_open_archive(struct ctx_elfobj *obj, const char *path,
						       struct ctx_err *err);

/* Opens a copy of `n` bytes. As above. */
CTX_MUST_CHECK enum ctx_status ctx_elfobj_open_bytes(struct ctx_elfobj *obj, const void *bytes, size_t n,
						     struct ctx_err *err);

void ctx_elfobj_close(struct ctx_elfobj *obj);

/* The first section of a name that has bytes in the file, or NULL. O(sections). */
Elf_Scn *ctx_elfobj_named_section(const struct ctx_elfobj *obj, const char *name);

/* The executable section that holds an address, or NULL. O(log sections). */
const struct ctx_elfobj_range *ctx_elfobj_section(const struct ctx_elfobj *obj, uint64_t address);

/*
 * Adds the functions of the tables of one type (SHT_SYMTAB or SHT_DYNSYM). The names are borrowed from `obj`:
 * freeze the set before it is closed.
 * `*ret_count`: how many were added. A damaged symbol is left out. Fails with CTX_E_FORMAT (nothing
 * readable), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_elfobj_add_symbols(struct ctx_elfobj *obj, uint32_t type,
						      struct ctx_symset *set, size_t *ret_count,
						      struct ctx_err *err);

/* Adds SYMBOL@plt for the slots of .plt, .plt.sec and .plt.got; "@plt" where no relocation tells. As above.
 */
CTX_MUST_CHECK enum ctx_status ctx_elfobj_add_plt(struct ctx_elfobj *obj, struct ctx_symset *set,
						  struct ctx_err *err);

#endif
