/*
 * Reader of .eh_frame and .debug_frame: common information entries (CIE) and frame descriptions
 * (FDE).
 *
 * No function allocates, and all loops are bounded by the size of the section. Sources: DWARF 5,
 * 6.4.1; LSB 5.0, 10.6 (.eh_frame, pointer encodings, augmentations).
 */
#ifndef CTX_ELF_CFI_READER_H
#define CTX_ELF_CFI_READER_H

#include "base/cursor.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_cfi_section {
	const uint8_t *bytes; /* borrowed */
	size_t n;
	uint64_t address;	/* address of the first byte; pointers may be relative to it */
	bool is_eh;		/* .eh_frame, otherwise .debug_frame */
	bool is_32, big_endian; /* of the file */
	uint64_t text, data;	/* bases of textrel and datarel pointers; 0: unknown, these pointers fail */
};

struct ctx_elf_file;

enum ctx_cfi_section_kind {
	CTX_CFI_DEBUG_FRAME,
	CTX_CFI_EH_FRAME,
	CTX_CFI_EH_FRAME_HDR, /* the linker's list of what .eh_frame describes; no entries */
};

/* The section of a file, decompressed. False: missing or damaged. Borrowed from the file. */
bool ctx_cfi_section_open(const struct ctx_elf_file *file, enum ctx_cfi_section_kind kind,
			  struct ctx_cfi_section *ret);

struct ctx_cfi_cie {
	uint64_t code_align;
	int64_t data_align;
	uint64_t return_register;
	uint8_t encoding; /* of addresses in FDEs */
	bool signal;	  /* its FDEs describe signal trampolines */
	bool sized;	  /* FDEs have augmentation data with a length */
	struct ctx_cursor program;
};

struct ctx_cfi_fde {
	size_t cie_offset; /* in the section */
	uint64_t begin, end;
	struct ctx_cursor program;
};

enum ctx_cfi_entry_kind {
	CTX_CFI_ENTRY_CIE,
	CTX_CFI_ENTRY_FDE,
};

struct ctx_cfi_entry {
	enum ctx_cfi_entry_kind kind;
	size_t offset;	   /* in the section */
	size_t cie_offset; /* of an FDE */
	bool is_64;
	struct ctx_cursor body; /* after the id */
};

/*
 * Reads the entry at *at and moves *at to the next one. CTX_END at the end of the section or its
 * terminator; CTX_E_FORMAT when the length is damaged: the start of the next entry is then unknown.
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_entry_next(const struct ctx_cfi_section *section, size_t *at,
						  struct ctx_cfi_entry *ret);

/* False: damaged, or of an unsupported kind. */
bool ctx_cfi_cie_read(const struct ctx_cfi_section *section, const struct ctx_cfi_entry *entry,
		      struct ctx_cfi_cie *ret);
bool ctx_cfi_fde_read(const struct ctx_cfi_section *section, const struct ctx_cfi_entry *entry,
		      const struct ctx_cfi_cie *cie, struct ctx_cfi_fde *ret);

/* Reads a pointer with an encoding (DW_EH_PE_*). Damage sets cursor->failed. */
uint64_t ctx_cfi_get_pointer(const struct ctx_cfi_section *section, struct ctx_cursor *cursor,
			     uint8_t encoding);

#endif
