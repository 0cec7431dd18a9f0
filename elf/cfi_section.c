/*
 * Where a file has its call frame information. Apart from the reader, which needs no libelf.
 */
#include "elf/cfi_reader.h"
#include "elf/elf_file.h"

static uint64_t section_address(const struct ctx_elf_file *file, const char *name)
{
	Elf_Scn *section = ctx_elf_named_section(file, name);
	GElf_Shdr header;

	return section != NULL && gelf_getshdr(section, &header) != NULL ? header.sh_addr : 0;
}

bool ctx_cfi_section_open(const struct ctx_elf_file *file, enum ctx_cfi_section_kind kind,
			  struct ctx_cfi_section *ret)
{
	static const char *const names[] = {[CTX_CFI_EH_FRAME] = ".eh_frame",
					    [CTX_CFI_DEBUG_FRAME] = ".debug_frame",
					    [CTX_CFI_EH_FRAME_HDR] = ".eh_frame_hdr"};
	Elf_Scn *section = ctx_elf_named_section(file, names[kind]);
	const Elf_Data *data;
	GElf_Shdr header;

	if (section == NULL && kind == CTX_CFI_DEBUG_FRAME)
		section = ctx_elf_named_section(file, ".zdebug_frame");
	data = section != NULL ? ctx_elf_section_data(file->elf, section) : NULL;
	if (data == NULL || gelf_getshdr(section, &header) == NULL)
		return false;
	*ret = (struct ctx_cfi_section){.bytes = data->d_buf,
					.n = data->d_size,
					.address = header.sh_addr,
					.is_eh = kind == CTX_CFI_EH_FRAME,
					.is_32 = !file->is_64,
					.big_endian = file->big_endian,
					.text = section_address(file, ".text"),
					.data = section_address(file, ".got")};
	return true;
}
