/*
 * DWARF file: one ELF file with debug information, and the file that dwz moved parts of it to,
 * opened by libdw.
 *
 * libdw keeps all it has read until its handle is closed, for example ten times the size of a line
 * table. So results are copied, no pointer of libdw is kept, and the handle is renewed now and
 * then: DIEs are stored as offsets.
 */
#ifndef CTX_SYMBOLS_DWARF_FILE_H
#define CTX_SYMBOLS_DWARF_FILE_H

#include "elf/elf_file.h"
#include "symbols/symtab.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

struct ctx_dwarf_file { /* ctx_dwarf_file_close also accepts all zero with both fds -1 */
	struct ctx_elf_file object;
	Dwarf *dwarf;			/* NULL: could not be renewed */
	struct ctx_elf_file alt_object; /* .gnu_debugaltlink's; closed: none */
	Dwarf *alt;	      /* a substitute if it was not found, so that libdw does not search itself */
	char *folder;	      /* owned; path of the file, NULL for bytes */
	uint64_t debug_bytes; /* of all its debug sections, decompressed */
	uint64_t spent;	      /* estimate of bytes that libdw has allocated since the handle was opened */
};

/*
 * Opens a regular file, or the bytes of a buffer, which are moved to `file`. `file` is zeroed
 * first; close it whatever the result. `request` (NULL: the usual places) says where to search for
 * dwz files. Fails with CTX_E_NOTFOUND, CTX_E_PERM, CTX_E_IO, CTX_E_FORMAT (no debug information,
 * damage, sections with an impossible decompressed size), CTX_E_LIMIT (more than 8 GiB),
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
 * Runs `call`; all calls of libdw must run in here. Renews the handle first if it has grown too
 * large. If libdw runs out of memory, `call` is left by longjmp and this fails with CTX_E_NOMEM.
 * Otherwise returns the result of `call`.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_file_run(struct ctx_dwarf_file *file, ctx_dwarf_file_fn call,
						  void *context, struct ctx_err *err);

/*
 * The executable section that contains an address: only there code can be. Debug information of
 * functions that the linker discarded has other addresses.
 */
const struct ctx_elf_section *ctx_dwarf_file_code(const struct ctx_dwarf_file *file, uint64_t address);

/*
 * Whether libdw may open the split unit (.dwo) of a skeleton: it must be a regular file of sane
 * size.
 */
bool ctx_dwarf_file_may_split(const struct ctx_dwarf_file *file, Dwarf_Die *skeleton);

#endif
