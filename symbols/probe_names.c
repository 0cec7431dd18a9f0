#include "symbols/probe_names.h"

#include "base/buf.h"
#include "elf/debug_files.h"
#include "symbols/demangle.h"

#include <fnmatch.h>
#include <string.h>

/* What compilers append to the names of parts of functions. */
static const char *const parts[] = {".cold", ".part."};

static bool is_pattern(const char *wanted)
{
	return strpbrk(wanted, "*?[") != NULL;
}

static bool matches(const char *wanted, const char *name)
{
	return strcmp(wanted, name) == 0 || (is_pattern(wanted) && fnmatch(wanted, name, 0) == 0);
}

/* The same for the first `n` bytes. */
static bool matches_part(const char *wanted, const char *name, size_t n)
{
	char *begin = n < strlen(name) ? ctx_memdup0(name, n) : NULL;
	bool is = begin != NULL && matches(wanted, begin);

	free(begin);
	return is;
}

/* Up to the parameters: "a::b(int) const" without "(int) const"; "(anonymous namespace)::f()" begins with none. */
static size_t without_parameters(const char *name)
{
	size_t depth = 0;

	for (size_t i = 0; name[i] != '\0'; i++) {
		if (name[i] == '<')
			depth++;
		else if (name[i] == '>' && depth != 0)
			depth--;
		else if (name[i] == '(' && depth == 0 && i != 0 && strncmp(name + i, "(anonymous", 10) != 0 &&
			 strncmp(name + i, "()(", 3) != 0)
			return i;
	}
	return strlen(name);
}

bool ctx_probe_name_matches(const char *wanted, const char *linkage_name, const char *name)
{
	return matches(wanted, linkage_name) || matches(wanted, name) ||
	       matches_part(wanted, linkage_name, strcspn(linkage_name, ".")) ||
	       matches_part(wanted, name, without_parameters(name));
}

bool ctx_probe_name_is_alias(const char *wanted, const char *aliases)
{
	size_t n = strlen(wanted);

	for (const char *at = strstr(aliases, wanted); at != NULL && n != 0; at = strstr(at + 1, wanted)) {
		if ((at == aliases || at[-1] == ' ') && (at[n] == ' ' || at[n] == '\0' || at[n] == '('))
			return true;
	}
	return false;
}

bool ctx_probe_name_is_part(const char *linkage_name)
{
	for (size_t i = 0; i < CTX_COUNT_OF(parts); i++) {
		if (strstr(linkage_name, parts[i]) != NULL)
			return true;
	}
	return false;
}

/* --- symbol tables --- */

typedef bool (*symbol_fn)(void *context, const GElf_Sym *symbol, const char *name);

/* Calls `each` for the symbols of both tables until it returns false. */
static void each_symbol(const struct ctx_elf_file *file, symbol_fn each, void *context)
{
	Elf_Scn *section = NULL;

	while ((section = elf_nextscn(file->elf, section)) != NULL) {
		GElf_Shdr header;
		Elf_Data *data;
		GElf_Sym symbol;

		if (gelf_getshdr(section, &header) == NULL ||
		    (header.sh_type != SHT_SYMTAB && header.sh_type != SHT_DYNSYM))
			continue;
		data = elf_getdata(section, NULL);
		for (int i = 0; data != NULL && gelf_getsym(data, i, &symbol) != NULL; i++) {
			const char *name = elf_strptr(file->elf, header.sh_link, symbol.st_name);

			if (name != NULL && symbol.st_shndx != SHN_UNDEF && !each(context, &symbol, name))
				return;
		}
	}
}

struct listing {
	unsigned type; /* STT_ */
	struct ctx_map64 *addresses;
	bool failed;
};

static bool take_address(void *context, const GElf_Sym *symbol, const char *name)
{
	struct listing *listing = context;
	uint32_t *place;

	(void)name;
	if (GELF_ST_TYPE(symbol->st_info) != listing->type)
		return true;
	place = ctx_map64_place(listing->addresses, symbol->st_value);
	if (place != NULL)
		*place = 0;
	listing->failed = place == NULL;
	return place != NULL;
}

static enum ctx_status list_addresses(const struct ctx_elf_file *image, unsigned type,
				      struct ctx_map64 *addresses, struct ctx_err *err)
{
	struct listing listing = {.type = type, .addresses = addresses};

	each_symbol(image, take_address, &listing);
	return listing.failed ? ctx_err_nomem(err) : CTX_OK;
}

enum ctx_status ctx_probe_list_choosers(const struct ctx_elf_file *image, struct ctx_map64 *choosers,
					struct ctx_err *err)
{
	return list_addresses(image, STT_GNU_IFUNC, choosers, err);
}

enum ctx_status ctx_probe_list_functions(const struct ctx_elf_file *image, struct ctx_map64 *functions,
					 struct ctx_err *err)
{
	return list_addresses(image, STT_FUNC, functions, err);
}

struct variables {
	const char *wanted;
	struct ctx_probe_variable found;
	unsigned n_local; /* at different addresses */
	bool has_global, is_of_thread, is_empty;
};

static bool has_name(const char *name, const char *wanted)
{
	struct ctx_buf readable CTX_AUTO_BUF = {0};

	if (strcmp(name, wanted) == 0)
		return true;
	if (!ctx_demangle(name, &readable))
		return false;
	ctx_buf_put_u8(&readable, 0);
	return !readable.failed && strcmp((const char *)readable.bytes, wanted) == 0;
}

static bool take_variable(void *context, const GElf_Sym *symbol, const char *name)
{
	struct variables *variables = context;
	unsigned type = GELF_ST_TYPE(symbol->st_info);
	bool is_global = GELF_ST_BIND(symbol->st_info) != STB_LOCAL;

	if ((type != STT_OBJECT && type != STT_TLS) || !has_name(name, variables->wanted))
		return true;
	variables->is_of_thread = variables->is_of_thread || type == STT_TLS;
	variables->is_empty = variables->is_empty || symbol->st_size == 0;
	if (type == STT_TLS || symbol->st_size == 0 || (variables->has_global && !is_global))
		return true;
	if (!is_global && (variables->n_local == 0 || variables->found.address != symbol->st_value))
		variables->n_local++;
	variables->has_global = is_global;
	variables->found = (struct ctx_probe_variable){.address = symbol->st_value, .size = symbol->st_size};
	return !is_global;
}

/* The separate debug file has the local ones of a stripped program. */
static enum ctx_status look_beside(const struct ctx_file_request *files, struct variables *variables,
				   struct ctx_err *err)
{
	struct ctx_found_file found CTX_CLEANUP(ctx_found_file_deinit) = {0};
	struct ctx_elf_file file = {.fd = -1};
	enum ctx_status status = ctx_debug_files_dwarf(files, &found, NULL);

	if (status == CTX_E_NOMEM)
		return ctx_err_nomem(err);
	if (status != CTX_OK || found.path == NULL || strcmp(found.path, files->path) == 0)
		return CTX_OK;
	status = ctx_elf_open_path(&file, found.path, NULL);
	if (status == CTX_OK)
		each_symbol(&file, take_variable, variables);
	ctx_elf_close(&file);
	return status == CTX_E_NOMEM ? ctx_err_nomem(err) : CTX_OK;
}

enum ctx_status ctx_probe_find_variable(const struct ctx_file_request *files,
					const struct ctx_elf_file *image, const char *name,
					struct ctx_probe_variable *ret, struct ctx_err *err)
{
	struct variables variables = {.wanted = name};
	enum ctx_status status = CTX_OK;

	each_symbol(image, take_variable, &variables);
	if (variables.found.size == 0)
		status = look_beside(files, &variables, err);
	if (status != CTX_OK)
		return status;
	if (variables.found.size == 0 && variables.is_of_thread)
		return ctx_err_set(err, CTX_E_ARG, "each thread has its own %s: it has no one address", name);
	if (variables.found.size == 0 && variables.is_empty)
		return ctx_err_set(err, CTX_E_ARG, "the size of %s is not known", name);
	if (variables.found.size == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no variable %s", name);
	if (!variables.has_global && variables.n_local > 1)
		return ctx_err_set(err, CTX_E_ARG, "%u local variables are called %s", variables.n_local,
				   name);
	*ret = variables.found;
	return CTX_OK;
}
