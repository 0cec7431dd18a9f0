/*
 *	object --- symtab (opened at the first look-up)
 *	   |         |
 *	   |         `-- symbol index -> function id   (by_symbol)
 *	   `------------ file offset  -> location id   (by_offset)
 *
 *	object of functions made at run time (no symtab): file offset = number of the function << 32 | offset in it
 *
 *	absolute addresses: kernel symbol -> function id, address -> location id; one object for the kernel, one for each of its modules
 */
#include "ingest/resolver.h"

#include "base/fileio.h"
#include "base/map64.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "ingest/symbol_caches.h"
#include "symbols/demangle.h"
#include "symbols/symtab.h"

#include <stdio.h>
#include <string.h>

#define DYNAMIC_BYTES_MAX ((uint64_t)1 << 32)

struct dynamic { /* a function that was made at run time */
	const char *name;
	uint64_t file_offset, size;
	uint32_t function; /* CTX_NONE: no sample there yet */
};

struct object {
	const char *path, *build_id, *archive;
	struct ctx_symtab *symtab; /* NULL until needed, and for pseudo objects */
	bool opened;
	uint32_t *by_symbol;	    /* symbol index -> function id, CTX_NONE: not met */
	struct ctx_map64 by_offset; /* file offset -> location id */
	uint32_t unknown;	    /* the function <Unknown> of this object, CTX_NONE: not met */
	bool kernel;		    /* the kernel or a module: its symbols are kallsyms' */
	bool is_dynamic;
	struct dynamic *dynamic; /* of an object of functions made at run time */
	size_t n_dynamic, dynamic_cap;
	struct ctx_map64 dynamic_by_offset; /* file offset as recorded -> number of the last one there */
};

struct ctx_resolver {
	struct ctx_resolver_options options;
	struct ctx_arena *arena;
	struct ctx_strtab object_keys; /* id = object id */
	struct object *objects;
	size_t n_objects, objects_cap;
	struct ctx_function_info *functions;
	size_t n_functions, functions_cap;
	struct ctx_location *locations;
	size_t n_locations, locations_cap;
	struct ctx_map64 by_address;	    /* absolute addresses -> location id */
	struct ctx_map64 by_module_address; /* the same, where the module that kallsyms tells is mapped */
	struct ctx_symtab *kernel;	    /* NULL: not opened, or no kallsyms */
	const char *kernel_origin;
	bool kernel_opened;
	bool kernel_recorded; /* kallsyms is a copy from the time of the recording: its modules lay there */
	uint32_t *kernel_by_symbol;
};

static void buf_cleanup(struct ctx_buf *buf)
{
	ctx_buf_deinit(buf);
}

static enum ctx_status add_function(struct ctx_resolver *resolver, const struct ctx_function_info *info,
				    uint32_t *ret_function, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&resolver->functions, &resolver->functions_cap, resolver->n_functions + 1, err);

	if (status != CTX_OK)
		return status;
	resolver->functions[resolver->n_functions] = *info;
	*ret_function = (uint32_t)resolver->n_functions++;
	return CTX_OK;
}

static enum ctx_status add_artificial(struct ctx_resolver *resolver, const char *name,
				      enum ctx_function_kind kind, uint32_t object, uint32_t *ret_function,
				      struct ctx_err *err)
{
	struct ctx_function_info info = {
		.name = name, .linkage_name = name, .aliases = "", .object = object, .kind = kind};

	return add_function(resolver, &info, ret_function, err);
}

enum ctx_status ctx_resolver_create(const struct ctx_resolver_options *options, struct ctx_arena *arena,
				    struct ctx_resolver **ret, struct ctx_err *err)
{
	struct ctx_resolver *resolver = ctx_calloc(1, sizeof(*resolver));
	enum ctx_status status;
	uint32_t id;

	if (resolver == NULL)
		return ctx_err_nomem(err);
	resolver->options = *options;
	resolver->arena = arena;
	resolver->kernel_origin = "none: no kallsyms in the experiment";
	status = add_artificial(resolver, "<Unknown>", CTX_FUNCTION_UNKNOWN, CTX_NONE, &id, err);
	if (status == CTX_OK)
		status = add_artificial(resolver, "<Truncated-stack>", CTX_FUNCTION_TRUNCATED, CTX_NONE, &id,
					err);
	if (status != CTX_OK) {
		ctx_resolver_destroy(resolver);
		return status;
	}
	*ret = resolver;
	return CTX_OK;
}

void ctx_resolver_destroy(struct ctx_resolver *resolver)
{
	if (resolver == NULL)
		return;
	for (size_t i = 0; i < resolver->n_objects; i++) {
		ctx_symtab_close(resolver->objects[i].symtab);
		ctx_map64_deinit(&resolver->objects[i].by_offset);
		free(resolver->objects[i].by_symbol);
		ctx_map64_deinit(&resolver->objects[i].dynamic_by_offset);
		free(resolver->objects[i].dynamic);
	}
	ctx_symtab_close(resolver->kernel);
	ctx_map64_deinit(&resolver->by_address);
	ctx_map64_deinit(&resolver->by_module_address);
	ctx_strtab_deinit(&resolver->object_keys);
	free(resolver->objects);
	free(resolver->functions);
	free(resolver->locations);
	free(resolver->kernel_by_symbol);
	free(resolver);
}

/* Equal keys are one object. */
static enum ctx_status object_of_key(struct ctx_resolver *resolver, const char *key, size_t key_bytes,
				     const struct ctx_map_event *map, uint32_t *ret_object,
				     struct ctx_err *err)
{
	struct object *object;
	enum ctx_status status =
		ctx_grow(&resolver->objects, &resolver->objects_cap, resolver->n_objects + 1, err);
	uint32_t id;

	if (status == CTX_OK)
		status = ctx_strtab_add(&resolver->object_keys, key, key_bytes, &id, err);
	if (status != CTX_OK)
		return status;
	if (id == resolver->n_objects) {
		object = &resolver->objects[resolver->n_objects];
		*object = (struct object){
			.path = ctx_arena_strdup(resolver->arena, map->path),
			.build_id = ctx_arena_strdup(resolver->arena, map->build_id),
			.archive = "",
			.unknown = CTX_NONE,
		};
		if (object->path == NULL || object->build_id == NULL)
			return ctx_err_nomem(err);
		resolver->n_objects++;
	}
	object = &resolver->objects[id];
	if (object->archive[0] == '\0' && map->archive[0] != '\0') {
		object->archive = ctx_arena_strdup(resolver->arena, map->archive);
		if (object->archive == NULL)
			return ctx_err_nomem(err);
	}
	*ret_object = id;
	return CTX_OK;
}

enum ctx_status ctx_resolver_object(struct ctx_resolver *resolver, const struct ctx_map_event *map,
				    uint32_t *ret_object, struct ctx_err *err)
{
	const char *key = map->build_id[0] != '\0' ? map->build_id : map->path;

	return object_of_key(resolver, key, strlen(key), map, ret_object, err);
}

/* The functions of a path are an object beside the file of that path: the key, with its zero byte, is no string. */
static enum ctx_status dynamic_object(struct ctx_resolver *resolver, const struct ctx_map_event *event,
				      uint32_t *ret_object, struct ctx_err *err)
{
	enum ctx_status status =
		object_of_key(resolver, event->path, strlen(event->path) + 1, event, ret_object, err);

	if (status == CTX_OK)
		resolver->objects[*ret_object].is_dynamic = true;
	return status;
}

static enum ctx_status add_dynamic(struct ctx_resolver *resolver, struct object *object,
				   const struct ctx_map_event *event, uint32_t *place, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&object->dynamic, &object->dynamic_cap, object->n_dynamic + 1, err);
	const char *name;

	if (status != CTX_OK)
		return status;
	if (object->n_dynamic >= CTX_MAP64_NONE)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: more than 4 G functions", object->path);
	name = ctx_arena_strdup(resolver->arena, event->function);
	if (name == NULL)
		return ctx_err_nomem(err);
	object->dynamic[object->n_dynamic] = (struct dynamic){
		.name = name,
		.file_offset = event->file_offset,
		.size = event->size,
		.function = CTX_NONE,
	};
	*place = (uint32_t)object->n_dynamic++;
	return CTX_OK;
}

enum ctx_status ctx_resolver_dynamic(struct ctx_resolver *resolver, const struct ctx_map_event *event,
				     struct ctx_mapped *map, struct ctx_err *err)
{
	enum ctx_status status = dynamic_object(resolver, event, &map->object, err);
	struct object *object;
	const struct dynamic *known;
	uint32_t *place;

	if (status != CTX_OK)
		return status;
	object = &resolver->objects[map->object];
	place = ctx_map64_place(&object->dynamic_by_offset, event->file_offset);
	if (place == NULL)
		return ctx_err_nomem(err);
	known = *place != CTX_MAP64_NONE ? &object->dynamic[*place] : NULL;
	/* Where the source breaks its promise of being unique, the later one is another function. */
	if (known == NULL || known->size != event->size || strcmp(known->name, event->function) != 0)
		status = add_dynamic(resolver, object, event, place, err);
	if (status != CTX_OK)
		return status;
	map->file_offset = (uint64_t)*place << 32;
	if (map->end - map->begin > DYNAMIC_BYTES_MAX)
		map->end = map->begin + DYNAMIC_BYTES_MAX;
	return CTX_OK;
}

static uint32_t *new_symbol_index(uint32_t count)
{
	uint32_t *by_symbol = ctx_calloc(count, sizeof(*by_symbol));

	if (by_symbol != NULL)
		memset(by_symbol, 0xff, count * sizeof(*by_symbol));
	return by_symbol;
}

/* "/tmp/perf-PID.map", where just-in-time compilers tell their functions. */
static bool is_perf_map(const char *path)
{
	static const char before[] = "/tmp/perf-";
	size_t digits;

	if (strncmp(path, before, sizeof(before) - 1) != 0)
		return false;
	path += sizeof(before) - 1;
	digits = strspn(path, "0123456789");
	return digits != 0 && strcmp(path + digits, ".map") == 0;
}

static bool can_be_opened(const struct ctx_resolver *resolver, const struct object *object)
{
	if (object->is_dynamic)
		return false;
	if (object->path[0] == '/' || object->archive[0] != '\0')
		return true;
	/* A cache may have what is no file: [vdso]. */
	return object->path[0] == '[' && object->build_id[0] != '\0' && resolver->options.caches != NULL;
}

static enum ctx_status open_symtab(struct ctx_resolver *resolver, struct object *object, struct ctx_err *err)
{
	struct ctx_symtab_request request = {
		.path = object->path,
		.build_id = object->build_id,
		.archive = object->archive,
		.debug_root = resolver->options.debug_root,
		.symfs = resolver->options.symfs,
		.caches = resolver->options.caches,
	};
	enum ctx_status status;

	object->opened = true;
	if (!can_be_opened(resolver, object))
		return CTX_OK; /* [heap], [stack], //anon without a file: nothing to open */
	if (is_perf_map(object->path))
		status =
			ctx_symtab_open_perf_map(object->path, resolver->options.symfs, &object->symtab, err);
	else
		status = ctx_symtab_open(&request, &object->symtab, err);
	if (status != CTX_OK)
		return ctx_err_prefix(err, status, "symbols of %s", object->path);
	object->by_symbol = new_symbol_index(ctx_symtab_count(object->symtab));
	return object->by_symbol != NULL ? CTX_OK : ctx_err_nomem(err);
}

static enum ctx_status function_of_symbol(struct ctx_resolver *resolver, struct ctx_symtab *symtab,
					  uint32_t symbol, uint32_t object, uint32_t *by_symbol,
					  uint32_t *ret_function, struct ctx_err *err)
{
	struct ctx_function_info info = {.object = object, .kind = CTX_FUNCTION_ORDINARY};
	struct ctx_symbol found;
	enum ctx_status status;

	if (by_symbol[symbol] != CTX_NONE) {
		*ret_function = by_symbol[symbol];
		return CTX_OK;
	}
	status = ctx_symtab_get(symtab, symbol, &found, err);
	if (status != CTX_OK)
		return status;
	info.name = ctx_arena_strdup(resolver->arena, found.name);
	info.linkage_name = strcmp(found.name, found.linkage_name) == 0
				    ? info.name
				    : ctx_arena_strdup(resolver->arena, found.linkage_name);
	info.aliases = ctx_arena_strdup(resolver->arena, found.aliases);
	info.offset = found.start;
	info.size = found.size;
	if (info.name == NULL || info.linkage_name == NULL || info.aliases == NULL)
		return ctx_err_nomem(err);
	status = add_function(resolver, &info, ret_function, err);
	if (status == CTX_OK)
		by_symbol[symbol] = *ret_function;
	return status;
}

/* `at`: the file offset in an object of functions made at run time. */
static enum ctx_status function_of_dynamic(struct ctx_resolver *resolver, uint32_t object, uint64_t at,
					   struct ctx_location *location, struct ctx_err *err)
{
	/* Offsets come from ctx_resolver_dynamic. */
	struct dynamic *dynamic = &resolver->objects[object].dynamic[at >> 32];
	struct ctx_function_info info = {
		.linkage_name = dynamic->name,
		.name = dynamic->name,
		.aliases = "",
		.object = object,
		.offset = dynamic->file_offset,
		.size = dynamic->size,
		.kind = CTX_FUNCTION_ORDINARY,
	};
	enum ctx_status status = CTX_OK;

	location->address = dynamic->file_offset + (at & (DYNAMIC_BYTES_MAX - 1));
	if (dynamic->function == CTX_NONE) {
		struct ctx_buf text __attribute__((cleanup(buf_cleanup))) = {0};

		if (ctx_demangle(dynamic->name, &text))
			info.name = ctx_arena_strndup(resolver->arena, (const char *)text.bytes, text.n);
		if (text.failed || info.name == NULL)
			return ctx_err_nomem(err);
		status = add_function(resolver, &info, &dynamic->function, err);
	}
	location->function = dynamic->function;
	return status;
}

static enum ctx_status unknown_of_object(struct ctx_resolver *resolver, uint32_t object,
					 uint32_t *ret_function, struct ctx_err *err)
{
	struct object *place = &resolver->objects[object];

	if (place->unknown == CTX_NONE) {
		enum ctx_status status = add_artificial(resolver, "<Unknown>", CTX_FUNCTION_UNKNOWN, object,
							&place->unknown, err);
		if (status != CTX_OK)
			return status;
	}
	*ret_function = place->unknown;
	return CTX_OK;
}

/*
 * Is the address in front of this symbol really its first byte? A caller's address is that of its return address, less
 * one; but what a signal interrupted returns to the beginning of a trampoline, and what an interrupt met at the
 * beginning of a kernel function has in front of it the padding, `__pfx_NAME`.
 */
static bool is_entered_exactly(const char *name, const char *before)
{
	static const char *const trampolines[] = {"__restore_rt", "__restore", "__kernel_rt_sigreturn",
						  "__kernel_sigreturn"};

	if (before != NULL && strncmp(before, "__pfx_", 6) == 0 && strcmp(before + 6, name) == 0)
		return true;
	for (size_t i = 0; i < CTX_COUNT_OF(trampolines); i++) {
		if (strcmp(name, trampolines[i]) == 0)
			return true;
	}
	return false;
}

/* The symbol of an address, with what is known of addresses right in front of one. */
static enum ctx_status find_symbol(struct ctx_symtab *symtab, uint64_t address, bool *ret_found,
				   uint32_t *ret_symbol, struct ctx_err *err)
{
	struct ctx_symbol symbol, before = {0};
	enum ctx_status status;
	uint32_t next;

	*ret_found = ctx_symtab_find(symtab, address, ret_symbol);
	if (!ctx_symtab_find(symtab, address + 1, &next) || (*ret_found && next == *ret_symbol))
		return CTX_OK;
	status = ctx_symtab_get(symtab, next, &symbol, err);
	if (status == CTX_OK && *ret_found)
		status = ctx_symtab_get(symtab, *ret_symbol, &before, err);
	if (status != CTX_OK || symbol.start != address + 1 ||
	    !is_entered_exactly(symbol.linkage_name, before.linkage_name))
		return status;
	*ret_found = true;
	*ret_symbol = next;
	return CTX_OK;
}

static enum ctx_status add_location(struct ctx_resolver *resolver, const struct ctx_location *location,
				    uint32_t *place, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&resolver->locations, &resolver->locations_cap, resolver->n_locations + 1, err);

	if (status != CTX_OK)
		return status;
	if (resolver->n_locations >= CTX_MAP64_NONE)
		return ctx_err_set(err, CTX_E_LIMIT, "more than 4 G addresses");
	resolver->locations[resolver->n_locations] = *location;
	*place = (uint32_t)resolver->n_locations++;
	return CTX_OK;
}

enum ctx_status ctx_resolver_in_object(struct ctx_resolver *resolver, uint32_t object_id,
				       uint64_t file_offset, uint32_t *ret_location, struct ctx_err *err)
{
	struct object *object = &resolver->objects[object_id];
	struct ctx_location location = {.object = object_id, .address = file_offset};
	uint32_t known = ctx_map64_get(&object->by_offset, file_offset);
	enum ctx_status status = CTX_OK;
	bool found = false;
	uint32_t *place;
	uint32_t symbol;

	if (known != CTX_MAP64_NONE) {
		*ret_location = known;
		return CTX_OK;
	}
	if (!object->opened)
		status = open_symtab(resolver, object, err);
	if (status != CTX_OK)
		return status;
	if (!object->is_dynamic && object->symtab != NULL &&
	    ctx_symtab_address(object->symtab, file_offset, &location.address))
		status = find_symbol(object->symtab, location.address, &found, &symbol, err);
	if (status != CTX_OK)
		return status;
	if (object->is_dynamic)
		status = function_of_dynamic(resolver, object_id, file_offset, &location, err);
	else if (found)
		status = function_of_symbol(resolver, object->symtab, symbol, object_id, object->by_symbol,
					    &location.function, err);
	else
		status = unknown_of_object(resolver, object_id, &location.function, err);
	if (status == CTX_OK)
		status = add_location(resolver, &location, ret_location, err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&object->by_offset, file_offset);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = *ret_location;
	return CTX_OK;
}

static const char *or_empty(const char *text)
{
	return text != NULL ? text : "";
}

/* Without a recorded copy of kallsyms: one that fits what is known of the kernel. */
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
	status = ctx_symtab_open_kernel(&kernel, &resolver->kernel, err);
	if (status == CTX_OK)
		resolver->kernel_origin = ctx_symtab_origin(resolver->kernel);
	return status;
}

static enum ctx_status open_recorded_kernel(struct ctx_resolver *resolver, struct ctx_err *err)
{
	enum ctx_status status = ctx_symtab_open_kallsyms(resolver->options.kallsyms, &resolver->kernel, err);

	if (status == CTX_E_NOMEM)
		return status;
	if (status != CTX_OK) {
		resolver->kernel = NULL; /* a damaged kallsyms costs names, not the experiment */
		resolver->kernel_origin = "none: kallsyms cannot be used";
		return CTX_OK;
	}
	resolver->kernel_origin = "kallsyms";
	resolver->kernel_recorded = true;
	return CTX_OK;
}

static enum ctx_status open_kernel(struct ctx_resolver *resolver, struct ctx_err *err)
{
	enum ctx_status status;

	resolver->kernel_opened = true;
	status = resolver->options.kallsyms[0] != '\0' ? open_recorded_kernel(resolver, err)
						       : find_kernel(resolver, err);
	if (status != CTX_OK || resolver->kernel == NULL)
		return status;
	resolver->kernel_by_symbol = new_symbol_index(ctx_symtab_count(resolver->kernel));
	return resolver->kernel_by_symbol != NULL ? CTX_OK : ctx_err_nomem(err);
}

/* Whether a path ("", "[ext4]", ".../ext4.ko.xz") is of a module as kallsyms names it ("" the kernel itself,
 * "[ext4]"): file names may have '-' for '_'. */
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

/*
 * What lies at a kernel address according to kallsyms. False: nothing, or a module's symbol of a kallsyms that is not
 * the recording's own, where `mapped` (the path of what is mapped there, "" nothing) is not that module: modules come
 * and go, and lie elsewhere then.
 */
static enum ctx_status find_in_kallsyms(struct ctx_resolver *resolver, uint64_t address, const char *mapped,
					bool *ret_found, uint32_t *ret_symbol, struct ctx_symbol *ret,
					struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	bool found;

	*ret_found = false;
	if (!resolver->kernel_opened)
		status = open_kernel(resolver, err);
	if (status != CTX_OK || resolver->kernel == NULL)
		return status;
	status = find_symbol(resolver->kernel, address, &found, ret_symbol, err);
	if (status != CTX_OK || !found)
		return status;
	status = ctx_symtab_get(resolver->kernel, *ret_symbol, ret, err);
	if (status == CTX_OK)
		*ret_found = resolver->kernel_recorded || is_module(mapped, ret->module);
	return status;
}

static enum ctx_status resolve_kernel(struct ctx_resolver *resolver, uint64_t address, const char *mapped,
				      struct ctx_location *location, struct ctx_err *err)
{
	struct ctx_symbol symbol = {.module = ""};
	uint32_t index;
	bool found;
	enum ctx_status status = find_in_kallsyms(resolver, address, mapped, &found, &index, &symbol, err);

	if (status == CTX_OK)
		status = kernel_object(resolver, found ? symbol.module : "", &location->object, err);
	if (status != CTX_OK)
		return status;
	return found ? function_of_symbol(resolver, resolver->kernel, index, location->object,
					  resolver->kernel_by_symbol, &location->function, err)
		     : unknown_of_object(resolver, location->object, &location->function, err);
}

/* `known` keeps what was found before. */
static enum ctx_status resolve_absolute(struct ctx_resolver *resolver, struct ctx_map64 *known,
					uint64_t address, const char *mapped, uint32_t *ret_location,
					struct ctx_err *err)
{
	struct ctx_location location = {
		.object = CTX_NONE, .function = CTX_FUNCTION_ID_UNKNOWN, .address = address};
	uint32_t before = ctx_map64_get(known, address);
	enum ctx_status status = CTX_OK;
	uint32_t *place;

	if (before != CTX_MAP64_NONE) {
		*ret_location = before;
		return CTX_OK;
	}
	if (address == CTX_FRAME_TRUNCATED)
		location.function = CTX_FUNCTION_ID_TRUNCATED;
	else if (address >= CTX_KERNEL_START)
		status = resolve_kernel(resolver, address, mapped, &location, err);
	if (status == CTX_OK)
		status = add_location(resolver, &location, ret_location, err);
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
	return resolve_absolute(resolver, &resolver->by_address, address, "", ret_location, err);
}

enum ctx_status ctx_resolver_kernel(struct ctx_resolver *resolver, struct ctx_addrspace *space,
				    uint64_t address, uint32_t *ret_location, struct ctx_err *err)
{
	const struct ctx_mapped *map = ctx_addrspace_find(space, address);
	const struct object *object;
	struct ctx_symbol symbol;
	enum ctx_status status;
	uint32_t index;
	bool found;

	if (map == NULL)
		return ctx_resolver_absolute(resolver, address, ret_location, err);
	object = &resolver->objects[map->object];
	if (!object->is_dynamic) {
		/* The kernel itself is mapped as well: "[kernel.kallsyms]". */
		if (strncmp(object->path, "[kernel", strlen("[kernel")) == 0)
			return ctx_resolver_absolute(resolver, address, ret_location, err);
		status = find_in_kallsyms(resolver, address, object->path, &found, &index, &symbol, err);
		if (status != CTX_OK)
			return status;
		if (found)
			return resolve_absolute(resolver, &resolver->by_module_address, address, object->path,
						ret_location, err);
	}
	return ctx_resolver_in_object(resolver, map->object, map->file_offset + (address - map->begin),
				      ret_location, err);
}

const struct ctx_location *ctx_resolver_locations(const struct ctx_resolver *resolver, size_t *ret_n)
{
	*ret_n = resolver->n_locations;
	return resolver->locations;
}

static const char *origin_of(const struct ctx_resolver *resolver, const struct object *object)
{
	if (object->symtab != NULL)
		return ctx_symtab_origin(object->symtab);
	if (object->kernel)
		return resolver->kernel_origin;
	if (object->is_dynamic)
		return "recorded";
	return object->opened ? "none: not a file" : "not needed: no samples there";
}

/* As it is kept in the database: a cache that was unpacked for a while is called by its lasting name. */
static const char *lasting_origin(struct ctx_resolver *resolver, const struct object *object)
{
	const char *origin = origin_of(resolver, object);
	char *renamed CTX_AUTO_FREE = NULL;

	if (resolver->options.caches == NULL || resolver->options.cache_names == NULL)
		return ctx_arena_strdup(resolver->arena, origin);
	renamed = ctx_symbol_caches_rename(origin, resolver->options.caches, resolver->options.cache_names);
	return renamed != NULL ? ctx_arena_strdup(resolver->arena, renamed) : NULL;
}

enum ctx_status ctx_resolver_take(struct ctx_resolver *resolver, struct ctx_profile *profile,
				  struct ctx_err *err)
{
	struct ctx_object_info *objects = ctx_calloc(resolver->n_objects, sizeof(*objects));

	if (objects == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < resolver->n_objects; i++) {
		const struct object *object = &resolver->objects[i];

		objects[i] = (struct ctx_object_info){
			.path = object->path,
			.build_id = object->build_id,
			.symbols = lasting_origin(resolver, object),
		};
		if (objects[i].symbols == NULL) {
			free(objects);
			return ctx_err_nomem(err);
		}
	}
	profile->objects = objects;
	profile->n_objects = (uint32_t)resolver->n_objects;
	profile->functions = resolver->functions;
	profile->n_functions = (uint32_t)resolver->n_functions;
	resolver->functions = NULL;
	resolver->n_functions = 0;
	return CTX_OK;
}
