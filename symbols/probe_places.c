/*
 *	symbols ----------> entries, the function of an offset, ranges
 *	DWARF, inlined ---> inlined entries (probe_inlines.c)
 *	DWARF, lines -----> the lowest address of a line in each function and inlined call
 *	.symtab, .dynsym -> variables
 */
#include "symbols/probe_places.h"

#include "base/mem.h"
#include "base/strtab.h"
#include "elf/elf_file.h"
#include "symbols/demangle.h"
#include "symbols/probe_inlines.h"
#include "symbols/probe_names.h"
#include "symbols/probe_once.h"
#include "symbols/probe_room.h"
#include "symbols/source_map.h"
#include "symbols/symtab.h"

#include <capstone/capstone.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PLACES_MAX 100000u
#define SITES_MAX 2000000u /* of coverage */

struct found {
	struct ctx_probe_place place;
	char *name; /* owned */
};

struct finding {
	const struct ctx_probe_request *request;
	struct ctx_elf_file image;
	struct ctx_file_request files;
	struct ctx_symtab *symbols;
	struct ctx_source_map *map;
	struct found *items;
	size_t n, cap;
	struct ctx_map64 choosers; /* addresses of code that chooses functions */
	size_t n_late;		   /* functions of that name that are chosen when the program is loaded */
	uint64_t first, last;	   /* of a range: addresses of its functions; UINT64_MAX, 0: not found */
};

static void finding_deinit(struct finding *finding)
{
	for (size_t i = 0; i < finding->n; i++)
		free(finding->items[i].name);
	free(finding->items);
	ctx_map64_deinit(&finding->choosers);
	ctx_source_map_close(finding->map);
	ctx_symtab_close(finding->symbols);
	ctx_elf_close(&finding->image);
}

static enum ctx_status add(struct finding *finding, enum ctx_probe_kind kind, uint64_t address,
			   const char *name, struct ctx_err *err)
{
	struct found *found;
	uint64_t offset;
	enum ctx_status status;

	if (!ctx_elf_offset(&finding->image, address, &offset))
		return CTX_OK;
	if (finding->n == (finding->request->what == CTX_PROBE_ONCE ? SITES_MAX : PLACES_MAX))
		return ctx_err_set(err, CTX_E_LIMIT, "more than %zu places", finding->n);
	status = ctx_grow(&finding->items, &finding->cap, finding->n + 1, err);
	if (status != CTX_OK)
		return status;
	found = &finding->items[finding->n];
	found->name = ctx_memdup0(name, strlen(name));
	if (found->name == NULL)
		return ctx_err_nomem(err);
	found->place = (struct ctx_probe_place){.kind = kind, .offset = offset, .address = address};
	finding->n++;
	return CTX_OK;
}

/* --- functions --- */

static bool is_plt(const struct ctx_symbol *symbol)
{
	size_t n = strlen(symbol->name);

	return n >= 4 && strcmp(symbol->name + n - 4, "@plt") == 0;
}

/* A function of the code, as opposed to a stub of the linker or a part of another one. */
static bool is_function(const struct ctx_symbol *symbol)
{
	return !is_plt(symbol) && symbol->name[0] != '<' && !ctx_probe_name_is_part(symbol->linkage_name);
}

typedef enum ctx_status (*symbol_fn)(struct finding *finding, const struct ctx_symbol *symbol,
				     struct ctx_err *err);

static enum ctx_status each_function(struct finding *finding, symbol_fn each, struct ctx_err *err)
{
	uint32_t n = ctx_symtab_count(finding->symbols);
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < n && status == CTX_OK; i++) {
		struct ctx_symbol symbol;

		status = ctx_symtab_get(finding->symbols, i, &symbol, err);
		if (status == CTX_OK && is_function(&symbol))
			status = each(finding, &symbol, err);
	}
	return status;
}

static bool is_named(const struct ctx_symbol *symbol, const char *wanted)
{
	return ctx_probe_name_matches(wanted, symbol->linkage_name, symbol->name) ||
	       ctx_probe_name_is_alias(wanted, symbol->aliases);
}

/* Whether an address is in the middle of an instruction, as far as the function's begin leads there. */
static bool is_inside_instruction(const struct finding *finding, uint64_t begin, uint64_t address)
{
	const struct ctx_elf_file *image = &finding->image;
	bool is_arm = image->machine == EM_AARCH64, is_inside = false;
	struct ctx_buf code CTX_AUTO_BUF = {0};
	const uint8_t *at;
	cs_insn *instruction;
	size_t n;
	csh handle;

	if ((!is_arm && image->machine != EM_X86_64 && image->machine != EM_386) || address == begin ||
	    ctx_elf_read_code(image, begin, address - begin + 16, &code, NULL) != CTX_OK)
		return false;
	if (cs_open(is_arm ? CS_ARCH_ARM64 : CS_ARCH_X86,
		    is_arm			  ? CS_MODE_ARM
		    : image->machine == EM_X86_64 ? CS_MODE_64
						  : CS_MODE_32,
		    &handle) != CS_ERR_OK)
		return false;
	instruction = cs_malloc(handle);
	at = code.bytes;
	n = code.n;
	while (instruction != NULL && begin < address && cs_disasm_iter(handle, &at, &n, &begin, instruction))
		is_inside = begin > address;
	if (instruction != NULL)
		cs_free(instruction, 1);
	cs_close(&handle);
	return is_inside;
}

static enum ctx_status add_offset(struct finding *finding, const struct ctx_symbol *symbol,
				  struct ctx_err *err)
{
	uint64_t offset = finding->request->offset;

	if (offset >= symbol->size)
		return ctx_err_set(err, CTX_E_ARG, "%s has %" PRIu64 " bytes: +0x%" PRIx64 " is behind it",
				   finding->request->name, symbol->size, offset);
	if (is_inside_instruction(finding, symbol->start, symbol->start + offset))
		return ctx_err_set(err, CTX_E_ARG, "%s+0x%" PRIx64 " is in the middle of an instruction",
				   finding->request->name, offset);
	return add(finding, CTX_PROBE_INSIDE, symbol->start + offset, symbol->name, err);
}

static bool is_chooser(const struct finding *finding, const struct ctx_symbol *symbol)
{
	return ctx_map64_get(&finding->choosers, symbol->start) != CTX_MAP64_NONE;
}

static enum ctx_status take_named(struct finding *finding, const struct ctx_symbol *symbol,
				  struct ctx_err *err)
{
	if (!is_named(symbol, finding->request->name))
		return CTX_OK;
	if (is_chooser(finding, symbol)) {
		finding->n_late++;
		return CTX_OK;
	}
	return finding->request->offset != 0
		       ? add_offset(finding, symbol, err)
		       : add(finding, CTX_PROBE_AT_ENTRY, symbol->start, symbol->name, err);
}

static enum ctx_status take_every(struct finding *finding, const struct ctx_symbol *symbol,
				  struct ctx_err *err)
{
	return is_chooser(finding, symbol)
		       ? CTX_OK
		       : add(finding, CTX_PROBE_AT_ENTRY, symbol->start, symbol->name, err);
}

static enum ctx_status take_inlined(void *context, uint64_t address, const char *name, struct ctx_err *err)
{
	return add(context, CTX_PROBE_AT_INLINED, address, name, err);
}

static enum ctx_status find_functions(struct finding *finding, struct ctx_err *err)
{
	const struct ctx_probe_request *request = finding->request;
	enum ctx_status status = each_function(finding, take_named, err);

	if (status == CTX_OK && request->what == CTX_PROBE_FUNCTION && request->offset == 0)
		status = ctx_probe_inlines(&finding->files, request->name, take_inlined, finding, err);
	if (status != CTX_OK || finding->n != 0)
		return status;
	if (finding->n_late != 0)
		return ctx_err_set(
			err, CTX_E_NOTFOUND,
			"%s is one of several, which is chosen when the program is loaded (IFUNC): name "
			"that one",
			request->name);
	return ctx_err_set(err, CTX_E_NOTFOUND, "no function %s", request->name);
}

static enum ctx_status take_bounds(struct finding *finding, const struct ctx_symbol *symbol,
				   struct ctx_err *err)
{
	(void)err;
	if (is_named(symbol, finding->request->name) && symbol->start < finding->first)
		finding->first = symbol->start;
	if (is_named(symbol, finding->request->last) && symbol->start >= finding->last)
		finding->last = symbol->start;
	return CTX_OK;
}

static enum ctx_status take_between(struct finding *finding, const struct ctx_symbol *symbol,
				    struct ctx_err *err)
{
	return symbol->start >= finding->first && symbol->start <= finding->last
		       ? take_every(finding, symbol, err)
		       : CTX_OK;
}

static enum ctx_status find_range(struct finding *finding, struct ctx_err *err)
{
	const struct ctx_probe_request *request = finding->request;
	enum ctx_status status;

	finding->first = UINT64_MAX;
	status = each_function(finding, take_bounds, err);
	if (status != CTX_OK)
		return status;
	if (finding->first == UINT64_MAX || finding->last == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no function %s",
				   finding->first == UINT64_MAX ? request->name : request->last);
	if (finding->last < finding->first)
		return ctx_err_set(err, CTX_E_ARG, "%s lies behind %s", request->name, request->last);
	return each_function(finding, take_between, err);
}

/* --- lines --- */

struct line_finding {
	struct finding *finding;
	struct ctx_strtab chains; /* of the places: what function and inlined calls they are in */
	uint32_t next_line;	  /* the first behind the wanted one that has code; 0: none */
	bool has_file;
};

/* The path itself, or the end of it behind a slash. */
static bool is_file(const char *path, const char *wanted)
{
	size_t n = strlen(path), n_wanted = strlen(wanted);

	return n >= n_wanted && strcmp(path + n - n_wanted, wanted) == 0 &&
	       (n == n_wanted || path[n - n_wanted - 1] == '/');
}

/* The function and the inlined calls that an address is in, as a key; *ret_symbol: the function, UINT32_MAX: none. */
static enum ctx_status chain_of(struct finding *finding, uint64_t address, struct ctx_buf *out,
				uint32_t *ret_symbol, struct ctx_err *err)
{
	struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX];
	size_t n = 0;
	enum ctx_status status = ctx_source_map_find(finding->map, address, frames, &n, err);

	if (status != CTX_OK)
		return status;
	*ret_symbol = UINT32_MAX;
	(void)ctx_symtab_find(finding->symbols, address, ret_symbol);
	ctx_buf_put_u32(out, *ret_symbol);
	for (size_t i = 0; i < n; i++) {
		if (frames[i].function != NULL)
			ctx_buf_put(out, frames[i].function, strlen(frames[i].function) + 1);
		/* The innermost line is the wanted one; those of the calls around it distinguish calls. */
		if (i != 0)
			ctx_buf_put_u32(out, frames[i].line);
	}
	return ctx_buf_check(out, err);
}

static enum ctx_status take_line(void *context, const struct ctx_source_line *line, struct ctx_err *err)
{
	struct line_finding *lines = context;
	struct finding *finding = lines->finding;
	uint32_t wanted = finding->request->line, index, id;
	struct ctx_buf chain CTX_AUTO_BUF = {0};
	struct ctx_symbol symbol = {.name = ""};
	size_t before = lines->chains.n;
	enum ctx_status status;

	if (line->file == NULL || !is_file(line->file, finding->request->name))
		return CTX_OK;
	lines->has_file = true;
	if (line->line > wanted && (lines->next_line == 0 || line->line < lines->next_line))
		lines->next_line = line->line;
	if (line->line != wanted)
		return CTX_OK;
	status = chain_of(finding, line->address, &chain, &index, err);
	if (status == CTX_OK)
		status = ctx_strtab_add(&lines->chains, (const char *)chain.bytes, chain.n, &id, err);
	if (status != CTX_OK || lines->chains.n == before)
		return status;
	if (index != UINT32_MAX)
		status = ctx_symtab_get(finding->symbols, index, &symbol, err);
	return status == CTX_OK ? add(finding, CTX_PROBE_INSIDE, line->address, symbol.name, err) : status;
}

static enum ctx_status find_lines(struct finding *finding, struct ctx_err *err)
{
	const struct ctx_probe_request *request = finding->request;
	struct line_finding lines = {.finding = finding};
	enum ctx_status status = ctx_source_map_open(&finding->files, &finding->map, err);

	for (size_t i = 0; i < finding->image.n_sections && status == CTX_OK; i++) {
		const struct ctx_elf_section *code = &finding->image.sections[i];

		status = ctx_source_map_lines(
			finding->map, (struct ctx_source_range){code->address, code->address + code->size},
			take_line, &lines, err);
	}
	ctx_strtab_deinit(&lines.chains);
	if (status != CTX_OK || finding->n != 0)
		return status;
	if (strncmp(ctx_source_map_origin(finding->map), "none: ", 6) == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no line tables (gcc -g)");
	if (!lines.has_file)
		return ctx_err_set(err, CTX_E_NOTFOUND, "no code of a source file %s", request->name);
	if (lines.next_line == 0)
		return ctx_err_set(err, CTX_E_NOTFOUND, "line %u of %s has no code, nor has any behind it",
				   request->line, request->name);
	return ctx_err_set(err, CTX_E_NOTFOUND, "line %u of %s has no code; the next one that has is %u",
			   request->line, request->name, lines.next_line);
}

/* --- data --- */

static enum ctx_status find_data(struct finding *finding, struct ctx_err *err)
{
	const struct ctx_probe_request *request = finding->request;
	struct ctx_probe_variable variable = {0};
	struct found *found;
	enum ctx_status status =
		ctx_probe_find_variable(&finding->files, &finding->image, request->name, &variable, err);

	if (status != CTX_OK)
		return status;
	if (request->offset >= variable.size || request->length_bytes > variable.size - request->offset)
		return ctx_err_set(err, CTX_E_ARG, "%s has %" PRIu64 " bytes", request->name, variable.size);
	status = ctx_grow(&finding->items, &finding->cap, 1, err);
	if (status != CTX_OK)
		return status;
	found = &finding->items[0];
	found->name = ctx_memdup0(request->name, strlen(request->name));
	if (found->name == NULL)
		return ctx_err_nomem(err);
	found->place = (struct ctx_probe_place){.kind = CTX_PROBE_AT_DATA,
						.address = variable.address + request->offset,
						.length_bytes = request->length_bytes != 0
									? request->length_bytes
									: variable.size - request->offset};
	finding->n = 1;
	return CTX_OK;
}

static enum ctx_status find_at(struct finding *finding, struct ctx_err *err)
{
	uint64_t address = finding->request->offset;
	struct ctx_symbol symbol;
	enum ctx_status status;
	uint32_t index;

	if (!ctx_symtab_find(finding->symbols, address, &index))
		return ctx_err_set(err, CTX_E_NOTFOUND, "no function at 0x%" PRIx64, address);
	status = ctx_symtab_get(finding->symbols, index, &symbol, err);
	if (status != CTX_OK)
		return status;
	if (is_inside_instruction(finding, symbol.start, address))
		return ctx_err_set(err, CTX_E_ARG, "0x%" PRIx64 " is in the middle of an instruction of %s",
				   address, symbol.name);
	return add(finding, address == symbol.start ? CTX_PROBE_AT_ENTRY : CTX_PROBE_INSIDE, address,
		   symbol.name, err);
}

/* --- coverage --- */

static enum ctx_status take_site(void *context, uint64_t address, struct ctx_err *err)
{
	return add(context, CTX_PROBE_INSIDE, address, "", err);
}

static enum ctx_status find_sites(struct finding *finding, struct ctx_err *err)
{
	const struct ctx_probe_request *request = finding->request;
	enum ctx_status status = ctx_source_map_open(&finding->files, &finding->map, err);
	const struct ctx_probe_once once = {.image = &finding->image,
					    .symbols = finding->symbols,
					    .map = finding->map,
					    .wanted = request->name};

	if (status == CTX_OK)
		status = ctx_probe_once_sites(&once, take_site, finding, err);
	if (status == CTX_OK && finding->n == 0)
		status = strcmp(request->name, "*") == 0
				 ? ctx_err_set(err, CTX_E_NOTFOUND, "no functions")
				 : ctx_err_set(err, CTX_E_NOTFOUND, "no function %s", request->name);
	return status;
}

/* --- all --- */

static int by_address(const void *a, const void *b)
{
	const struct ctx_probe_place *left = &((const struct found *)a)->place;
	const struct ctx_probe_place *right = &((const struct found *)b)->place;

	if (left->address != right->address)
		return left->address < right->address ? -1 : 1;
	return (left->kind > right->kind) - (left->kind < right->kind);
}

static enum ctx_status hand_out(struct finding *finding, ctx_probe_place_fn each, void *context,
				struct ctx_err *err)
{
	struct ctx_probe_room room;
	enum ctx_status status = CTX_OK;

	ctx_probe_room_init(&room, &finding->image);
	if (finding->n != 0)
		qsort(finding->items, finding->n, sizeof(*finding->items), by_address);
	for (size_t i = 0; i < finding->n && status == CTX_OK; i++) {
		struct found *found = &finding->items[i];

		if (i != 0 && found->place.address == found[-1].place.address)
			continue;
		found->place.name = found->name;
		found->place.has_room = found->place.kind == CTX_PROBE_AT_ENTRY &&
					ctx_probe_room_is_at(&room, found->place.address);
		status = each(context, &found->place, err);
	}
	ctx_probe_room_deinit(&room);
	return status;
}

static enum ctx_status find(struct finding *finding, struct ctx_err *err)
{
	switch (finding->request->what) {
	case CTX_PROBE_FUNCTION:
	case CTX_PROBE_RETURN:
		return find_functions(finding, err);
	case CTX_PROBE_LINE:
		return find_lines(finding, err);
	case CTX_PROBE_RANGE:
		return find_range(finding, err);
	case CTX_PROBE_OBJECT: {
		enum ctx_status status = each_function(finding, take_every, err);

		if (status == CTX_OK && finding->n == 0)
			status = ctx_err_set(err, CTX_E_NOTFOUND, "no functions");
		return status;
	}
	case CTX_PROBE_DATA:
		return find_data(finding, err);
	case CTX_PROBE_AT:
		return find_at(finding, err);
	case CTX_PROBE_ONCE:
		return find_sites(finding, err);
	}
	return ctx_err_set(err, CTX_E_INTERNAL, "a request of kind %d", (int)finding->request->what);
}

enum ctx_status ctx_probe_places(const struct ctx_probe_request *request, ctx_probe_place_fn each,
				 void *context, struct ctx_err *err)
{
	struct finding finding CTX_CLEANUP(finding_deinit) = {.request = request, .image = {.fd = -1}};
	enum ctx_status status = ctx_elf_open_path(&finding.image, request->path, err);

	if (status != CTX_OK)
		return status;
	finding.files = (struct ctx_file_request){.path = request->path,
						  .build_id = finding.image.build_id,
						  .archive = "",
						  .debug_root = "",
						  .symfs = ""};
	status = ctx_symtab_open(&finding.files, &finding.symbols, err);
	if (status == CTX_OK)
		status = ctx_probe_list_choosers(&finding.image, &finding.choosers, err);
	if (status == CTX_OK)
		status = find(&finding, err);
	return status == CTX_OK ? hand_out(&finding, each, context, err) : status;
}
