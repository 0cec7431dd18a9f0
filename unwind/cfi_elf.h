/*
 * What a table needs of an ELF file: its frame sections, executable segments and build id, through libelf.
 *
 * Private to unwind/. Files are read, not mapped: one that shrinks meanwhile is a read error, not a signal.
 */
#ifndef CTX_UNWIND_CFI_ELF_H
#define CTX_UNWIND_CFI_ELF_H

#include "base/err.h"
#include "model/user_regs.h"
#include "unwind/cfi_reader.h"

#include <libelf.h>

#define CTX_CFI_BUILD_ID_TEXT 129 /* 64 bytes in hex, and the zero */

struct ctx_cfi_segment {
	uint64_t offset, address; /* in the file, in memory */
	uint64_t file_size, memory_size;
};

struct ctx_cfi_elf { /* all zero with fd -1 is a valid closed one */
	int fd;
	Elf *elf;
	enum ctx_machine machine;
	char build_id[CTX_CFI_BUILD_ID_TEXT];
	struct ctx_cfi_segment *segments; /* owned; executable */
	size_t n_segments, segments_cap;
	struct ctx_cfi_section sections[2]; /* .eh_frame first; bytes are borrowed from `elf` */
	size_t n_sections;
};

/* Opens a file. Close it whatever the result. Fails as ctx_cfi_table_open does. */
CTX_MUST_CHECK enum ctx_status ctx_cfi_elf_open(struct ctx_cfi_elf *elf, const char *path,
						struct ctx_err *err);

/* Bytes in memory, borrowed until close. */
CTX_MUST_CHECK enum ctx_status ctx_cfi_elf_open_bytes(struct ctx_cfi_elf *elf, const void *bytes, size_t n,
						      struct ctx_err *err);

void ctx_cfi_elf_close(struct ctx_cfi_elf *elf);

#endif
