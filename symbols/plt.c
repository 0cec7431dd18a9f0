/*
 * PLT slots have no symbols. A slot jumps through one word of the GOT, and a relocation names the
 * function that is stored there:
 *
 *	.plt.sec + 16:  endbr64; jmp *disp(%rip)  --->  GOT word  <---  .rela.plt / .rela.dyn: r_offset, symbol
 *	.plt + 16:      endbr64; push $n; jmp PLT0                <---  .rela.plt entry n
 *
 * On x86-64 the slots are decoded, which does not depend on the linker's order. On other machines,
 * and for unrecognised slots, the name is "@plt".
 */
#include "symbols/elf_functions.h"

#include "base/mem.h"

#include <gelf.h>
#include <stdio.h>
#include <string.h>

#define SLOT_BYTES 16

struct relocation {
	uint64_t got; /* address of the GOT word */
	size_t symbol;
};

struct relocations {
	struct relocation *items; /* by GOT address */
	size_t n, cap;
	uint64_t *pushed; /* GOT addresses of .rela.plt, in its order */
	size_t pushed_n, pushed_cap;
	Elf_Data *symbols; /* of .dynsym; NULL none */
	size_t names;	   /* section index of .dynstr */
};

static void relocations_cleanup(struct relocations *relocations)
{
	free(relocations->items);
	free(relocations->pushed);
}

static enum ctx_status add_relocations(struct relocations *relocations, Elf_Data *data, bool pushed,
				       struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	GElf_Rela rela;

	for (int i = 0; status == CTX_OK && i < INT32_MAX && gelf_getrela(data, i, &rela) != NULL; i++) {
		if (pushed) {
			status = ctx_grow(&relocations->pushed, &relocations->pushed_cap,
					  relocations->pushed_n + 1, err);
			if (status != CTX_OK)
				return status;
			relocations->pushed[relocations->pushed_n++] = rela.r_offset;
		}
		if (GELF_R_SYM(rela.r_info) == 0)
			continue;
		status = ctx_grow(&relocations->items, &relocations->cap, relocations->n + 1, err);
		if (status == CTX_OK)
			relocations->items[relocations->n++] =
				(struct relocation){.got = rela.r_offset, .symbol = GELF_R_SYM(rela.r_info)};
	}
	return status;
}

static int compare_relocations(const void *left, const void *right)
{
	const struct relocation *a = left;
	const struct relocation *b = right;

	return a->got < b->got ? -1 : a->got > b->got;
}

static enum ctx_status read_relocations(const struct ctx_elf_file *file, struct relocations *relocations,
					struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	Elf_Scn *section = NULL;

	while (status == CTX_OK && (section = elf_nextscn(file->elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;

		if (gelf_getshdr(section, &header) == NULL ||
		    (header.sh_type != SHT_RELA && header.sh_type != SHT_DYNSYM))
			continue;
		data = elf_getdata(section, NULL);
		if (data == NULL || data->d_buf == NULL)
			continue;
		if (header.sh_type == SHT_DYNSYM) {
			relocations->symbols = data;
			relocations->names = header.sh_link;
		} else if ((header.sh_flags & SHF_ALLOC) != 0) {
			status = add_relocations(
				relocations, data,
				strcmp(ctx_elf_section_name(file->elf, &header), ".rela.plt") == 0, err);
		}
	}
	if (relocations->n > 1)
		qsort(relocations->items, relocations->n, sizeof(*relocations->items), compare_relocations);
	return status;
}

/* The name of the function whose address is in the GOT word; NULL unknown. */
static const char *function_of_got(const struct ctx_elf_file *file, const struct relocations *relocations,
				   uint64_t got)
{
	const struct relocation key = {.got = got};
	const struct relocation *found = NULL;
	GElf_Sym symbol;
	const char *name;

	if (relocations->n != 0)
		found = bsearch(&key, relocations->items, relocations->n, sizeof(key), compare_relocations);
	if (found == NULL || relocations->symbols == NULL || found->symbol > INT32_MAX ||
	    gelf_getsym(relocations->symbols, (int)found->symbol, &symbol) == NULL)
		return NULL;
	name = elf_strptr(file->elf, relocations->names, symbol.st_name);
	return name != NULL && name[0] != '\0' ? name : NULL;
}

static uint32_t get_le32(const uint8_t *bytes)
{
	return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 |
	       (uint32_t)bytes[3] << 24;
}

/* The GOT word that a slot of `n` bytes jumps through; false if the code is not a PLT slot. */
static bool decode_slot(const struct relocations *relocations, const uint8_t *code, size_t n,
			uint64_t address, uint64_t *ret_got)
{
	static const uint8_t endbr64[4] = {0xf3, 0x0f, 0x1e, 0xfa};
	size_t at = 0;

	if (n >= 4 && memcmp(code, endbr64, 4) == 0)
		at = 4;
	if (at < n && code[at] == 0xf2) /* bnd */
		at++;
	if (n - at >= 6 && code[at] == 0xff && code[at + 1] == 0x25) {
		*ret_got = address + at + 6 + (uint64_t)(int64_t)(int32_t)get_le32(code + at + 2);
		return true;
	}
	if (n - at >= 5 && code[at] == 0x68 && get_le32(code + at + 1) < relocations->pushed_n) {
		*ret_got = relocations->pushed[get_le32(code + at + 1)];
		return true;
	}
	return false;
}

/* `function` NULL: no relocation names it. */
static enum ctx_status add_slot(struct ctx_symset *set, struct ctx_symset_raw slot, const char *function,
				struct ctx_err *err)
{
	slot.name = "@plt";
	slot.module = "";
	if (function != NULL) {
		size_t bytes = strlen(function) + sizeof("@plt");
		char *name = ctx_arena_alloc(&set->names, bytes);

		if (name == NULL)
			return ctx_err_nomem(err);
		snprintf(name, bytes, "%s@plt", function);
		slot.name = name;
	}
	return ctx_symset_add(set, &slot, err);
}

static enum ctx_status add_section(const struct ctx_elf_file *file, const struct relocations *relocations,
				   Elf_Scn *section, struct ctx_symset *set, struct ctx_err *err)
{
	const Elf_Data *code = elf_rawdata(section, NULL);
	enum ctx_status status = CTX_OK;
	struct ctx_symset_raw slot;
	uint64_t slot_bytes;
	GElf_Shdr header;

	if (code == NULL || code->d_buf == NULL || gelf_getshdr(section, &header) == NULL ||
	    header.sh_addr > UINT64_MAX - code->d_size)
		return CTX_OK;
	slot = (struct ctx_symset_raw){
		.start = header.sh_addr, .size = code->d_size, .limit = header.sh_addr + code->d_size};
	if (file->machine != EM_X86_64)
		return add_slot(set, slot, NULL, err);
	slot_bytes = header.sh_entsize == 8 ? 8 : SLOT_BYTES;
	for (uint64_t at = 0; at < code->d_size && status == CTX_OK; at += slot_bytes) {
		const char *function = NULL;
		uint64_t got;

		slot.start = header.sh_addr + at;
		slot.size = code->d_size - at < slot_bytes ? code->d_size - at : slot_bytes;
		if (decode_slot(relocations, (const uint8_t *)code->d_buf + at, slot.size, slot.start, &got))
			function = function_of_got(file, relocations, got);
		status = add_slot(set, slot, function, err);
	}
	return status;
}

static bool is_plt(const char *name)
{
	return strcmp(name, ".plt") == 0 || strcmp(name, ".plt.sec") == 0 || strcmp(name, ".plt.got") == 0;
}

enum ctx_status ctx_elf_functions_add_plt(const struct ctx_elf_file *file, struct ctx_symset *set,
					  struct ctx_err *err)
{
	struct relocations relocations CTX_CLEANUP(relocations_cleanup) = {0};
	enum ctx_status status = read_relocations(file, &relocations, err);
	Elf_Scn *section = NULL;

	while (status == CTX_OK && (section = elf_nextscn(file->elf, section)) != NULL) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_PROGBITS ||
		    (header.sh_flags & SHF_EXECINSTR) == 0 ||
		    !is_plt(ctx_elf_section_name(file->elf, &header)))
			continue;
		status = add_section(file, &relocations, section, set, err);
	}
	return status;
}
