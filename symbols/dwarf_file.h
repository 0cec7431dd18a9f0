/*
 * DWARF file: one ELF file with debug information, and what dwz moved out of it, opened by libdw.
 *
 * libdw keeps whatever it has read until its handle is closed, ten times the size of a line table
 * for instance. So all that is wanted is copied out, nothing of libdw's is kept, and the handle is
 * renewed now and then: DIEs are kept as offsets.
 */
#ifndef CTX_SYMBOLS_DWARF_FILE_H
#define CTX_SYMBOLS_DWARF_FILE_H

#include "elf/elf_file.h"
#include "symbols/symtab.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct ctx_dwarf_file { /* ctx_dwarf_file_close also takes all zero with both fds -1 */
	struct ctx_elf_file object;
	Dwarf *dwarf;			/* NULL: could not be renewed */
	struct ctx_elf_file alt_object; /* .gnu_debugaltlink's; closed: none */
	Dwarf *alt;   /* stands for it where it was not found, too: libdw does not look for itself then */
	char *folder; /* owned; where the file lies, NULL for bytes */
	uint64_t debug_bytes; /* of all its debug sections, unpacked */
	uint64_t spent;	      /* rough measure of what libdw has allocated since the handle is new, bytes */
};

/*
 * Opens a plain file, or the bytes of a buffer, which move to `file`. `file` is zeroed first; close
 * it whatever the result. `request` (NULL: the usual places) says where files of dwz are looked
 * for. Fails with CTX_E_NOTFOUND, CTX_E_PERM, CTX_E_IO, CTX_E_FORMAT (no debug information, damage,
 * sections that unpack to more than compression can do), CTX_E_LIMIT (more than 8 GiB),
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_file_open_path(struct ctx_dwarf_file *file, const char *path,
							const struct ctx_file_request *request,
							struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_dwarf_file_open_image(struct ctx_dwarf_file *file, struct ctx_buf *image,
							 const struct ctx_file_request *request,
							 struct ctx_err *err);
void ctx_dwarf_file_close(struct ctx_dwarf_file *file);

typedef enum ctx_status (*ctx_dwarf_file_fn)(void *context, struct ctx_err *err);

/*
 * Everything that calls libdw runs in here: renews the handle first where it has grown, and when
 * libdw runs out of memory in `call` (which it leaves in the middle then) fails with CTX_E_NOMEM.
 * Else the result of `call`.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_file_run(struct ctx_dwarf_file *file, ctx_dwarf_file_fn call,
						  void *context, struct ctx_err *err);

/*
 * The executable section that holds an address: only there code can be. Debug information that
 * belongs to functions which the linker threw away has other addresses.
 */
const struct ctx_elf_section *ctx_dwarf_file_code(const struct ctx_dwarf_file *file, uint64_t address);

/*
 * Whether libdw may be asked for the split unit (.dwo) of a skeleton: what its name leads to is a
 * plain file of sane size.
 */
bool ctx_dwarf_file_may_split(const struct ctx_dwarf_file *file, Dwarf_Die *skeleton);

#endif
