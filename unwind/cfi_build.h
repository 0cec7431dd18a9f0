/*
 * Builds the table of call frame information from the sections of one load object: lists its functions. Their rows are
 * read when they are asked for (unwind/cfi_part.h).
 *
 * Private to unwind/.
 */
#ifndef CTX_UNWIND_CFI_BUILD_H
#define CTX_UNWIND_CFI_BUILD_H

#include "base/err.h"
#include "elf/cfi_reader.h"
#include "unwind/cfi_lookup.h"
#include "unwind/cfi_part.h"

struct ctx_cfi_source { /* everything is borrowed */
	enum ctx_machine machine;
	const char *build_id; /* NULL: none */
	const struct ctx_elf_segment *segments;
	size_t n_segments; /* 0: unknown, every address may be code */
	struct ctx_cfi_sections sections;
	struct ctx_cfi_section header; /* .eh_frame_hdr; n 0: none */
	struct ctx_elf_file *
		file; /* that has the sections, not the memory of somebody else: it is moved into the table; NULL: they are copied */
};

/*
 * Functions come from .eh_frame_hdr, which linkers sort, where it is sound and there is no .debug_frame; otherwise all
 * descriptions are read. Damaged functions are dropped. Fails with CTX_E_NOTFOUND (no frame information), CTX_E_LIMIT,
 * CTX_E_NOMEM; the file is then the caller's still. O(functions).
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_build(const struct ctx_cfi_source *source, struct ctx_cfi_table **ret,
					     struct ctx_err *err);

void ctx_cfi_build_free(struct ctx_cfi_table *table);

#endif
