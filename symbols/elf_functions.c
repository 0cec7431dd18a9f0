#include "symbols/elf_functions.h"

#include <string.h>

/*
 * Symbols may point into one another's names, but only up to a limit: names are copied, and a small
 * hostile file must not expand to gigabytes.
 */
#define NAME_BYTES_FACTOR 16
#define NAME_BYTES_EXTRA ((size_t)1 << 20)

struct adding { /* the symbols of one table */
	const struct ctx_elf_file *file;
	struct ctx_symset *set;
	const Elf_Data *names;
	size_t budget;	 /* bytes of names so far */
	uint32_t source; /* number of the source file that local symbols are of; 0 unknown */
};

/*
 * Is it a function of this object, by type and section? Mapping symbols ($x, $d) and data labels
 * are not.
 */
static bool is_function(const GElf_Sym *symbol)
{
	unsigned type = GELF_ST_TYPE(symbol->st_info);

	if (type != STT_FUNC && type != STT_GNU_IFUNC && type != STT_NOTYPE)
		return false;
	return symbol->st_shndx != SHN_UNDEF &&
	       (symbol->st_shndx < SHN_LORESERVE || symbol->st_shndx == SHN_XINDEX);
}

/*
 * In .symtab a versioned symbol is NAME@@VERSION, in .dynsym NAME: without the version both names
 * are equal, and profiles of stripped files look the same. Synthetic names with an '@' of their own
 * occur in exported files.
 */
static const char *without_version(struct ctx_symset *set, const char *name, size_t bytes)
{
	const char *at = memchr(name, '@', bytes);

	if (strcmp(name, "@plt ") == 0) /* without the blank gprofng would interpret it */
		return "@plt";
	if (at != NULL && (name[0] == '<' || strncmp(at, "@plt", bytes - (size_t)(at - name)) == 0))
		return name;
	return at != NULL && at != name ? ctx_arena_strndup(&set->names, name, (size_t)(at - name)) : name;
}

static enum ctx_status add_symbol(struct adding *adding, const GElf_Sym *symbol, struct ctx_err *err)
{
	bool is_local = GELF_ST_BIND(symbol->st_info) == STB_LOCAL;
	const Elf_Data *names = adding->names;
	const struct ctx_elf_section *section;
	struct ctx_symset_raw raw = {.start = symbol->st_value,
				     .size = symbol->st_size,
				     .module = "",
				     .file = is_local ? adding->source : 0};
	size_t bytes;

	if (!is_function(symbol) || symbol->st_name >= names->d_size)
		return CTX_OK;
	if (adding->file->machine == EM_ARM)
		raw.start &= ~(uint64_t)1; /* the Thumb bit */
	section = ctx_elf_section_at(adding->file, raw.start);
	raw.name = (const char *)names->d_buf + symbol->st_name;
	if (section == NULL || raw.name[0] == '$')
		return CTX_OK;
	bytes = strnlen(raw.name, names->d_size - symbol->st_name) + 1;
	if (bytes > names->d_size - symbol->st_name)
		return CTX_OK;
	if (bytes > adding->budget)
		return ctx_err_set(err, CTX_E_FORMAT, "symbol names overlap without bound");
	adding->budget -= bytes;
	if (strcmp(raw.name, "<Unknown>") == 0) /* exported files: no name */
		return CTX_OK;
	raw.name = without_version(adding->set, raw.name, bytes);
	if (raw.name == NULL)
		return ctx_err_nomem(err);
	raw.limit = section->address + section->size;
	return ctx_symset_add(adding->set, &raw, err);
}

/*
 * Local symbols follow the symbol of their source file; those of the linker follow one without a
 * name.
 */
static enum ctx_status begin_source(struct adding *adding, const GElf_Sym *symbol, struct ctx_err *err)
{
	const char *name = (const char *)adding->names->d_buf + symbol->st_name;
	size_t n;

	adding->source = 0;
	if (symbol->st_name == 0 || symbol->st_name >= adding->names->d_size)
		return CTX_OK;
	n = strnlen(name, adding->names->d_size - symbol->st_name);
	if (n > adding->budget)
		return ctx_err_set(err, CTX_E_FORMAT, "symbol names overlap without bound");
	adding->budget -= n;
	return ctx_symset_add_file(adding->set, name, n, &adding->source, err);
}

static enum ctx_status add_table(const struct ctx_elf_file *file, Elf_Scn *section, size_t names_index,
				 struct ctx_symset *set, struct ctx_err *err)
{
	Elf_Data *symbols = elf_getdata(section, NULL);
	Elf_Data *names = elf_rawdata(elf_getscn(file->elf, names_index), NULL);
	struct adding adding = {.file = file, .set = set, .names = names};
	enum ctx_status status = CTX_OK;

	if (symbols == NULL || names == NULL)
		return ctx_elf_error(err);
	if (symbols->d_buf == NULL || names->d_buf == NULL)
		return CTX_OK;
	adding.budget = names->d_size > SIZE_MAX / NAME_BYTES_FACTOR - NAME_BYTES_EXTRA
				? SIZE_MAX
				: names->d_size * NAME_BYTES_FACTOR + NAME_BYTES_EXTRA;
	for (size_t i = 1; i <= INT32_MAX && status == CTX_OK; i++) {
		GElf_Sym symbol;

		if (gelf_getsym(symbols, (int)i, &symbol) == NULL)
			break;
		if (GELF_ST_TYPE(symbol.st_info) == STT_FILE)
			status = begin_source(&adding, &symbol, err);
		else
			status = add_symbol(&adding, &symbol, err);
	}
	return status;
}

enum ctx_status ctx_elf_functions_add(const struct ctx_elf_file *file, uint32_t type, struct ctx_symset *set,
				      size_t *ret_count, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	Elf_Scn *section = NULL;
	size_t before = set->raw_n;

	while (status == CTX_OK && (section = elf_nextscn(file->elf, section)) != NULL) {
		GElf_Shdr header;

		if (gelf_getshdr(section, &header) != NULL && header.sh_type == type)
			status = add_table(file, section, header.sh_link, set, err);
	}
	if (status != CTX_OK)
		set->raw_n = before;
	*ret_count = set->raw_n - before;
	return status;
}
