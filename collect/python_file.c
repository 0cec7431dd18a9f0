#include "collect/python_file.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "elf/elf_file.h"

#include <ctype.h>
#include <stddef.h>
#include <string.h>

static const char *after_digits(const char *text)
{
	while (isdigit((unsigned char)*text) || *text == '.')
		text++;
	return text;
}

bool ctx_python_is_name(const char *path)
{
	const char *name = ctx_path_base(path);

	if (strncmp(name, "libpython3", 10) == 0) {
		name = after_digits(name + 9);
		return strcmp(name, "so") == 0 || strncmp(name, "so.", 3) == 0;
	}
	return strncmp(name, "python3", 7) == 0 && *after_digits(name + 6) == '\0';
}

/* What is looked for: a symbol's address, or its size. */
struct found {
	uint64_t version_at; /* the address of Py_Version */
	unsigned n;
};

static void take(struct ctx_python_file *file, struct found *found, const char *name, const GElf_Sym *symbol)
{
	const struct {
		const char *name;
		uint64_t *to;
	} wanted[] = {{"_PyRuntime", &file->runtime},
		      {"PyCode_Type", &file->code_type},
		      {"_PyEval_EvalFrameDefault", &file->eval},
		      {"Py_Version", &found->version_at}};

	for (size_t i = 0; i < CTX_COUNT_OF(wanted); i++) {
		if (strcmp(name, wanted[i].name) != 0 || *wanted[i].to != 0)
			continue;
		*wanted[i].to = symbol->st_value;
		found->n++;
		if (wanted[i].to == &file->eval)
			file->eval_size = symbol->st_size;
	}
}

static void look(struct ctx_python_file *file, struct found *found, Elf *elf, Elf_Scn *section,
		 const GElf_Shdr *header)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t n = data != NULL && header->sh_entsize != 0 ? data->d_size / header->sh_entsize : 0;
	GElf_Sym symbol;

	for (size_t i = 0; i < n && gelf_getsym(data, (int)i, &symbol) != NULL; i++) {
		const char *name = symbol.st_shndx != SHN_UNDEF
					   ? elf_strptr(elf, header->sh_link, symbol.st_name)
					   : NULL;

		if (name != NULL && (name[0] == '_' || name[0] == 'P'))
			take(file, found, name, &symbol);
	}
}

/* Py_Version is a constant: its bytes are in the file. */
static uint32_t read_version(Elf *elf, uint64_t address)
{
	Elf_Scn *section = NULL;
	uint64_t value = 0;

	while ((section = elf_nextscn(elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;

		if (gelf_getshdr(section, &header) == NULL || header.sh_type != SHT_PROGBITS ||
		    address < header.sh_addr || header.sh_size < sizeof(value) ||
		    address - header.sh_addr > header.sh_size - sizeof(value))
			continue;
		data = elf_rawdata(section, NULL);
		if (data != NULL && data->d_buf != NULL &&
		    address - header.sh_addr + sizeof(value) <= data->d_size)
			memcpy(&value, (const char *)data->d_buf + (address - header.sh_addr), sizeof(value));
		break;
	}
	return (uint32_t)value;
}

static enum ctx_status read_elf(const struct ctx_elf_file *elf, struct ctx_python_file *ret,
				struct ctx_err *err)
{
	struct found found = {0};
	Elf_Scn *section = NULL;

	if (!elf->is_64 || elf->n_segments == 0)
		return ctx_err_set(err, CTX_E_FORMAT, "it is no program of 64 bits");
	while ((section = elf_nextscn(elf->elf, section)) != NULL) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) != NULL &&
		    (header.sh_type == SHT_SYMTAB || header.sh_type == SHT_DYNSYM))
			look(ret, &found, elf->elf, section, &header);
	}
	if (found.n == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "it has no interpreter");
	if (found.n < 4 || ret->eval_size == 0)
		return ctx_err_set(
			err, CTX_E_FORMAT,
			"it does not export where the interpreter is (stripped, or older than 3.11)");
	ret->version = read_version(elf->elf, found.version_at);
	ret->address = elf->segments[0].address;
	ret->offset = elf->segments[0].offset;
	return CTX_OK;
}

enum ctx_status ctx_python_file_read(const char *path, struct ctx_python_file *ret, struct ctx_err *err)
{
	struct ctx_elf_file elf;
	enum ctx_status status = ctx_elf_open_path(&elf, path, err);

	*ret = (struct ctx_python_file){0};
	if (status == CTX_OK)
		status = read_elf(&elf, ret, err);
	ctx_elf_close(&elf);
	return status;
}
