/*
 * Reads the parts of a table of call frame information: the descriptions of some functions, run into rows.
 *
 *	CTX_CFI_PART listed functions --entries of the sections--> CIE, FDE --cfi_program.c--> rows, rules
 *
 * A profile has some hundred functions of an object that has a hundred thousand, so that a part is read when the first
 * address falls into it: some microseconds. Private to unwind/.
 */
#ifndef CTX_UNWIND_CFI_PART_H
#define CTX_UNWIND_CFI_PART_H

#include "elf/cfi_reader.h"
#include "unwind/cfi_lookup.h"

struct ctx_cfi_sections { /* .eh_frame first, if both exist */
	struct ctx_cfi_section items[2];
	size_t n;
};

/*
 * `file` has the sections' bytes, and is moved into the reader; NULL: the bytes are copied. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_reader_create(const struct ctx_cfi_sections *sections,
						     struct ctx_elf_file *file, struct ctx_cfi_reader **ret,
						     struct ctx_err *err);
void ctx_cfi_reader_destroy(struct ctx_cfi_reader *reader);

/* A part with one row, without information. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_cfi_part_none(const struct ctx_cfi_table *table, struct ctx_cfi_part **ret,
						 struct ctx_err *err);
void ctx_cfi_part_destroy(struct ctx_cfi_part *part);

/* Descriptions of code that the linker discarded stay in .debug_frame, at address 0. */
bool ctx_cfi_is_code(const struct ctx_elf_segment *segments, size_t n, const struct ctx_cfi_fde *fde);

#endif
