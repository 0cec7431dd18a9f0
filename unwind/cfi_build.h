/*
 * Builds the table of call frame information from the sections of one load object.
 *
 * Private to unwind/. All allocation is here; walking a finished table (unwind/cfi_lookup.h) does
 * not allocate.
 */
#ifndef CTX_UNWIND_CFI_BUILD_H
#define CTX_UNWIND_CFI_BUILD_H

#include "base/err.h"
#include "elf/cfi_reader.h"
#include "unwind/cfi_lookup.h"

struct ctx_cfi_source { /* everything is borrowed */
	enum ctx_machine machine;
	const char *build_id; /* NULL: none */
	const struct ctx_elf_segment *segments;
	size_t n_segments;		    /* 0: unknown, every address may be code */
	struct ctx_cfi_section sections[2]; /* .eh_frame first, if both exist */
	size_t n_sections;
};

/*
 * Damaged functions are dropped. Fails with CTX_E_NOTFOUND (no frame information), CTX_E_LIMIT,
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_cfi_build(const struct ctx_cfi_source *source, struct ctx_cfi_table **ret,
					     struct ctx_err *err);

void ctx_cfi_build_free(struct ctx_cfi_table *table);

#endif
