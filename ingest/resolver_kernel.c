#include "base/fileio.h"
#include "base/mem.h"
#include "ingest/resolver.h"
#include "ingest/resolver_impl.h"

#include <stdio.h>
#include <string.h>

static const char *or_empty(const char *text)
{
	return text != NULL ? text : "";
}

/* Without a recorded copy of kallsyms: one that matches the recorded kernel. */
static enum ctx_status find_kernel(struct ctx_resolver *resolver, struct ctx_err *err)
{
	const struct ctx_source_kernel *known = resolver->options.kernel;
	struct ctx_symtab_kernel kernel = {.proc = "", .notes = "", .caches = resolver->options.caches};
	enum ctx_status status;

	if (known == NULL || (or_empty(known->build_id)[0] == '\0' && or_empty(known->release)[0] == '\0' &&
			      or_empty(known->symbol)[0] == '\0'))
		return CTX_OK;
	kernel.build_id = or_empty(known->build_id);
	kernel.release = or_empty(known->release);
	kernel.symbol = or_empty(known->symbol);
	kernel.address = known->address;
	status = ctx_symtab_open_kernel(&kernel, &resolver->kernel.symtab, err);
	if (status == CTX_OK)
		resolver->kernel.origin = ctx_symtab_origin(resolver->kernel.symtab);
	return status;
}

static enum ctx_status open_recorded_kernel(struct ctx_resolver *resolver, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_symtab_open_kallsyms(resolver->options.kallsyms, &resolver->kernel.symtab, err);

	if (status == CTX_E_NOMEM)
		return status;
	if (status != CTX_OK) {
		resolver->kernel.symtab = NULL; /* a damaged kallsyms costs names, not the experiment */
		resolver->kernel.origin = "none: kallsyms cannot be used";
		return CTX_OK;
	}
	resolver->kernel.origin = "kallsyms";
	resolver->kernel.recorded = true;
	return CTX_OK;
}

/* simpleperf has the kernel's symbols of samples in the recording. */
static enum ctx_status use_recorded_kernel(struct ctx_resolver *resolver, struct ctx_err *err)
{
	struct ctx_resolver_kernel *kernel = &resolver->kernel;
	const struct ctx_symtab *before = kernel->symtab;
	enum ctx_status status =
		ctx_resolver_use_recorded(resolver, "[kernel.kallsyms]", &kernel->symtab, err);

	if (status == CTX_OK && kernel->symtab != before)
		kernel->origin = ctx_symtab_origin(kernel->symtab);
	return status;
}

static enum ctx_status open_kernel(struct ctx_resolver *resolver, struct ctx_err *err)
{
	enum ctx_status status;

	resolver->kernel.opened = true;
	status = resolver->options.kallsyms[0] != '\0' ? open_recorded_kernel(resolver, err)
						       : find_kernel(resolver, err);
	if (status == CTX_OK)
		status = use_recorded_kernel(resolver, err);
	if (status != CTX_OK || resolver->kernel.symtab == NULL)
		return status;
	resolver->kernel.by_symbol = ctx_resolver_new_index(ctx_symtab_count(resolver->kernel.symtab));
	return resolver->kernel.by_symbol != NULL ? CTX_OK : ctx_err_nomem(err);
}

/*
 * Whether a path ("", "[ext4]", ".../ext4.ko.xz") is of a module as kallsyms names it ("" the
 * kernel itself, "[ext4]"): file names may have '-' for '_'.
 */
static bool is_module(const char *path, const char *module)
{
	const char *at = ctx_path_base(path);

	if (module[0] != '[')
		return at[0] == '\0';
	if (at[0] == '[')
		at++;
	for (module++; *module != ']' && *module != '\0'; module++, at++) {
		if ((*at == '-' ? '_' : *at) != (*module == '-' ? '_' : *module))
			return false;
	}
	return strchr("].", *at) != NULL && module[-1] != '[';
}

/* The kernel and each of its modules are objects named "[kernel]", "[ext4]". */
static enum ctx_status kernel_object(struct ctx_resolver *resolver, const char *module, uint32_t *ret_object,
				     struct ctx_err *err)
{
	struct ctx_map_event map = {.path = module[0] != '\0' ? module : "[kernel]",
				    .build_id = "",
				    .archive = "",
				    .function = ""};

	enum ctx_status status = ctx_resolver_object(resolver, &map, ret_object, err);

	if (status == CTX_OK)
		resolver->objects[*ret_object].kernel = true;
	return status;
}

struct kernel_place {
	uint64_t address;
	const char *mapped; /* path of the mapping there, "" none */
};

struct kernel_symbol {
	bool found;
	uint32_t index;
	const char *module; /* "" the kernel itself */
};

/*
 * The symbol at a kernel address according to kallsyms. Not found: none, or a module's symbol in a
 * kallsyms that is not the recording's own, where another module is mapped: reloaded modules move.
 */
static enum ctx_status find_in_kallsyms(struct ctx_resolver *resolver, const struct kernel_place *place,
					struct kernel_symbol *ret, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	struct ctx_symbol symbol;
	bool found;

	*ret = (struct kernel_symbol){.module = ""};
	if (!resolver->kernel.opened)
		status = open_kernel(resolver, err);
	if (status != CTX_OK || resolver->kernel.symtab == NULL)
		return status;
	status = ctx_resolver_find_symbol(resolver->kernel.symtab, place->address, &found, &ret->index, err);
	if (status != CTX_OK || !found)
		return status;
	status = ctx_symtab_get(resolver->kernel.symtab, ret->index, &symbol, err);
	if (status != CTX_OK)
		return status;
	ret->module = symbol.module;
	ret->found = resolver->kernel.recorded || is_module(place->mapped, symbol.module);
	return CTX_OK;
}

static enum ctx_status resolve_kernel(struct ctx_resolver *resolver, const struct kernel_place *place,
				      struct ctx_location *location, struct ctx_err *err)
{
	struct kernel_symbol symbol;
	struct ctx_resolver_symbols symbols;
	enum ctx_status status = find_in_kallsyms(resolver, place, &symbol, err);

	if (status == CTX_OK)
		status = kernel_object(resolver, symbol.found ? symbol.module : "", &location->object, err);
	if (status != CTX_OK)
		return status;
	if (!symbol.found)
		return ctx_resolver_unknown(resolver, location->object, &location->function, err);
	symbols = (struct ctx_resolver_symbols){resolver->kernel.symtab, resolver->kernel.by_symbol,
						location->object};
	return ctx_resolver_of_symbol(resolver, &symbols, symbol.index, &location->function, err);
}

bool ctx_resolver_is_pseudo(uint64_t address)
{
	return ctx_frame_is_mark(address);
}

/* A mark's function, which is made once. */
static enum ctx_status mark_function(struct ctx_resolver *resolver, const char *name,
				     enum ctx_function_kind kind, uint32_t *function, struct ctx_err *err)
{
	char *kept;

	if (*function != CTX_NONE)
		return CTX_OK;
	kept = ctx_arena_strdup(resolver->arena, name);
	if (kept == NULL)
		return ctx_err_nomem(err);
	return ctx_resolver_add_artificial(resolver, (struct ctx_resolver_artificial){kept, kind, CTX_NONE},
					   function, err);
}

/* Each reason has its own function, so that every report distinguishes them. */
static enum ctx_status resolve_pseudo(struct ctx_resolver *resolver, uint64_t address,
				      struct ctx_location *location, struct ctx_err *err)
{
	enum ctx_function_kind kind = CTX_FUNCTION_ARTIFICIAL;
	const char *name = "<Frames-left-out>";
	uint32_t *function = &resolver->marks.gap;
	enum ctx_status status;
	char text[64];

	if (address == CTX_FRAME_JOINED) {
		location->joins = true;
		location->function = CTX_NONE;
		return CTX_OK;
	}
	if (address == CTX_FRAME_EXEC) {
		name = "<execve>";
		function = &resolver->marks.exec;
	} else if (address == CTX_FRAME_PRUNED) {
		name = "<Pruned>";
		function = &resolver->marks.pruned;
	} else if (address == CTX_FRAME_LOST) {
		name = "<Lost-calls>";
		function = &resolver->marks.lost;
	} else if (address != CTX_FRAME_GAP) {
		enum ctx_truncation reason = ctx_frame_truncation(address);

		snprintf(text, sizeof(text), "<Truncated-stack: %s>", ctx_truncation_text(reason));
		name = text;
		kind = CTX_FUNCTION_TRUNCATED;
		function = &resolver->marks.truncated[reason];
	}
	status = mark_function(resolver, name, kind, function, err);
	location->function = *function;
	return status;
}

/* `known` caches earlier results. */
static enum ctx_status resolve_absolute(struct ctx_resolver *resolver, struct ctx_map64 *known,
					const struct kernel_place *at, uint32_t *ret_location,
					struct ctx_err *err)
{
	uint64_t address = at->address;
	struct ctx_location location = {.object = CTX_NONE,
					.function = CTX_FUNCTION_ID_UNKNOWN,
					.address = address,
					.site = CTX_NONE};
	uint32_t before = ctx_map64_get(known, address);
	enum ctx_status status = CTX_OK;
	uint32_t *place;

	if (before != CTX_MAP64_NONE) {
		*ret_location = before;
		return CTX_OK;
	}
	if (ctx_resolver_is_pseudo(address))
		status = resolve_pseudo(resolver, address, &location, err);
	else if (address >= CTX_KERNEL_START)
		status = resolve_kernel(resolver, at, &location, err);
	if (status == CTX_OK)
		status = ctx_resolver_add_location(resolver, &location, ret_location, err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(known, address);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = *ret_location;
	return CTX_OK;
}

enum ctx_status ctx_resolver_absolute(struct ctx_resolver *resolver, uint64_t address, uint32_t *ret_location,
				      struct ctx_err *err)
{
	struct kernel_place place = {address, ""};

	return resolve_absolute(resolver, &resolver->by_address, &place, ret_location, err);
}

enum ctx_status ctx_resolver_kernel(struct ctx_resolver *resolver, struct ctx_addrspace *space,
				    uint64_t address, uint32_t *ret_location, struct ctx_err *err)
{
	const struct ctx_resolver_object *object;
	struct kernel_symbol symbol;
	struct kernel_place place;
	struct ctx_mapped map;
	enum ctx_status status;

	if (!ctx_addrspace_find(space, address, &map))
		return ctx_resolver_absolute(resolver, address, ret_location, err);
	object = &resolver->objects[map.object];
	if (!object->is_dynamic) {
		/* The kernel itself is mapped as well: "[kernel.kallsyms]". */
		if (strncmp(object->path, "[kernel", strlen("[kernel")) == 0)
			return ctx_resolver_absolute(resolver, address, ret_location, err);
		place = (struct kernel_place){address, object->path};
		status = find_in_kallsyms(resolver, &place, &symbol, err);
		if (status != CTX_OK)
			return status;
		if (symbol.found)
			return resolve_absolute(resolver, &resolver->by_module_address, &place, ret_location,
						err);
	}
	return ctx_resolver_in_object(resolver, map.object, map.file_offset + (address - map.begin),
				      ret_location, err);
}

bool ctx_resolver_in_kernel(const struct ctx_resolver *resolver, uint32_t location)
{
	const struct ctx_location *at = &resolver->locations[location];

	if (at->object != CTX_NONE)
		return resolver->objects[at->object].kernel;
	return at->address >= CTX_KERNEL_START && !ctx_resolver_is_pseudo(at->address) && !at->joins;
}
