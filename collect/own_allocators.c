#include "collect/own_allocators.h"

#include "base/mem.h"
#include "elf/elf_file.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const char *const names[] = {"je_malloc",       "_rjem_malloc", "tc_malloc",
				    "mi_malloc",       "rpmalloc",     "dlmalloc",
				    "scalable_malloc", "nedmalloc",    "runtime.mallocgc"};
static const char hidden[] = "malloc";

/* One of the names that the symbol gives to a function. */
static const char *known_name(Elf *elf, const GElf_Shdr *header, const GElf_Sym *symbol)
{
	const char *name;

	if (symbol->st_shndx == SHN_UNDEF || GELF_ST_TYPE(symbol->st_info) != STT_FUNC)
		return NULL;
	name = elf_strptr(elf, header->sh_link, symbol->st_name);
	for (size_t i = 0; name != NULL && i < CTX_COUNT_OF(names); i++) {
		if (name[0] == names[i][0] && strcmp(name, names[i]) == 0)
			return names[i];
	}
	return name != NULL && strcmp(name, hidden) == 0 ? hidden : NULL;
}

/* Looks at one table; false: the file exports malloc. */
static bool look(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, const char **found)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = data != NULL && header->sh_entsize != 0 ? data->d_size / header->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; i < n && gelf_getsym(data, (int)i, &symbol) != NULL; i++) {
		const char *name = known_name(elf, header, &symbol);

		if (name == hidden && header->sh_type == SHT_DYNSYM)
			return false;
		if (name != NULL && (*found == NULL || *found == hidden))
			*found = name;
	}
	return true;
}

const char *ctx_own_allocator_find(int fd)
{
	struct ctx_elf_file file;
	const char *found = NULL;
	char path[64];
	bool exports = false;
	Elf_Scn *section = NULL;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (ctx_elf_open_path(&file, path, NULL) != CTX_OK) {
		ctx_elf_close(&file);
		return NULL;
	}
	while (!exports && (section = elf_nextscn(file.elf, section)) != NULL) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) != NULL &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			exports = !look(file.elf, section, &header, &found);
	}
	ctx_elf_close(&file);
	return exports ? NULL : found;
}
