#include "symbols/fde_ranges.h"

#include "elf/cfi_reader.h"

struct frames {
	const struct ctx_elf_file *file;
	struct ctx_cfi_section section;
	size_t cie_offset; /* of the one read last; SIZE_MAX none */
	struct ctx_cfi_cie cie;
	bool is_known; /* the CIE could be read */
};

/* Reads the CIE of an FDE, unless it is the one read last. */
static void look_up_cie(struct frames *frames, size_t offset)
{
	struct ctx_cfi_entry entry;
	size_t at = offset;

	if (offset == frames->cie_offset)
		return;
	frames->cie_offset = offset;
	frames->is_known = offset < frames->section.n &&
			   ctx_cfi_entry_next(&frames->section, &at, &entry) == CTX_OK &&
			   entry.offset == offset && entry.kind == CTX_CFI_ENTRY_CIE &&
			   ctx_cfi_cie_read(&frames->section, &entry, &frames->cie);
}

/* The function's range is cut at the end of its section. */
static enum ctx_status add_function(const struct frames *frames, const struct ctx_cfi_fde *fde,
				    struct ctx_symset *set, struct ctx_err *err)
{
	const struct ctx_elf_section *section = ctx_elf_section_at(frames->file, fde->begin);
	uint64_t size = fde->end - fde->begin, rest;

	if (section == NULL || size == 0)
		return CTX_OK;
	rest = section->size - (fde->begin - section->address);
	return ctx_symset_add_extent(set, fde->begin, size < rest ? size : rest, err);
}

enum ctx_status ctx_fde_ranges_add(const struct ctx_elf_file *file, struct ctx_symset *set,
				   struct ctx_err *err)
{
	struct frames frames = {.file = file, .cie_offset = SIZE_MAX};
	enum ctx_status status = CTX_OK;
	struct ctx_cfi_entry entry;
	struct ctx_cfi_fde fde;
	size_t at = 0;

	if (file->n_sections == 0 || !ctx_cfi_section_open(file, CTX_CFI_EH_FRAME, &frames.section))
		return CTX_OK;
	while (status == CTX_OK && ctx_cfi_entry_next(&frames.section, &at, &entry) == CTX_OK) {
		if (entry.kind == CTX_CFI_ENTRY_CIE)
			continue;
		look_up_cie(&frames, entry.cie_offset);
		if (frames.is_known && ctx_cfi_fde_read(&frames.section, &entry, &frames.cie, &fde))
			status = add_function(&frames, &fde, set, err);
	}
	return status;
}
