/*
 *	object --- symtab (opened at the first look-up)
 *	   |         |
 *	   |         `-- symbol index -> function id   (by_symbol)
 *	   `------------ file offset  -> location id   (by_offset)
 *
 *	absolute addresses: kernel symbol -> function id, address -> location id; one object for the kernel, one for each of its modules
 */
#include "ingest/resolver.h"

#include "base/map64.h"
#include "base/mem.h"
#include "base/strtab.h"
#include "symbols/symtab.h"

#include <stdio.h>
#include <string.h>

struct object {
	const char *path, *build_id, *archive;
	struct ctx_symtab *symtab; /* NULL until needed, and for pseudo objects */
	bool opened;
	uint32_t *by_symbol;	    /* symbol index -> function id, CTX_NONE: not met */
	struct ctx_map64 by_offset; /* file offset -> location id */
	uint32_t unknown;	    /* the function <Unknown> of this object, CTX_NONE: not met */
	bool kernel;		    /* the kernel or a module: its symbols are kallsyms' */
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
	struct ctx_map64 by_address; /* absolute addresses */
	struct ctx_symtab *kernel;   /* NULL: not opened, or no kallsyms */
	const char *kernel_origin;
	bool kernel_opened;
	uint32_t *kernel_by_symbol;
};

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
	}
	ctx_symtab_close(resolver->kernel);
	ctx_map64_deinit(&resolver->by_address);
	ctx_strtab_deinit(&resolver->object_keys);
	free(resolver->objects);
	free(resolver->functions);
	free(resolver->locations);
	free(resolver->kernel_by_symbol);
	free(resolver);
}

enum ctx_status ctx_resolver_object(struct ctx_resolver *resolver, const struct ctx_map_event *map,
				    uint32_t *ret_object, struct ctx_err *err)
{
	const char *key = map->build_id[0] != '\0' ? map->build_id : map->path;
	struct object *object;
	enum ctx_status status =
		ctx_grow(&resolver->objects, &resolver->objects_cap, resolver->n_objects + 1, err);
	uint32_t id;

	if (status == CTX_OK)
		status = ctx_strtab_add_text(&resolver->object_keys, key, &id, err);
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

static uint32_t *new_symbol_index(uint32_t count)
{
	uint32_t *by_symbol = ctx_calloc(count, sizeof(*by_symbol));

	if (by_symbol != NULL)
		memset(by_symbol, 0xff, count * sizeof(*by_symbol));
	return by_symbol;
}

static enum ctx_status open_symtab(struct ctx_resolver *resolver, struct object *object, struct ctx_err *err)
{
	struct ctx_symtab_request request = {
		.path = object->path,
		.build_id = object->build_id,
		.archive = object->archive,
		.debug_root = resolver->options.debug_root,
		.symfs = resolver->options.symfs,
	};
	enum ctx_status status;

	object->opened = true;
	if (object->path[0] != '/' && object->archive[0] == '\0')
		return CTX_OK; /* [heap], [stack], //anon without a file: nothing to open */
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
	if (object->symtab != NULL && ctx_symtab_address(object->symtab, file_offset, &location.address) &&
	    ctx_symtab_find(object->symtab, location.address, &symbol))
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

static enum ctx_status open_kernel(struct ctx_resolver *resolver, struct ctx_err *err)
{
	enum ctx_status status;

	resolver->kernel_opened = true;
	if (resolver->options.kallsyms[0] == '\0')
		return CTX_OK;
	status = ctx_symtab_open_kallsyms(resolver->options.kallsyms, &resolver->kernel, err);
	if (status == CTX_E_NOMEM)
		return status;
	if (status != CTX_OK) {
		resolver->kernel = NULL; /* a damaged kallsyms costs names, not the experiment */
		resolver->kernel_origin = "none: kallsyms cannot be used";
		return CTX_OK;
	}
	resolver->kernel_origin = "kallsyms";
	resolver->kernel_by_symbol = new_symbol_index(ctx_symtab_count(resolver->kernel));
	return resolver->kernel_by_symbol != NULL ? CTX_OK : ctx_err_nomem(err);
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

static enum ctx_status resolve_kernel(struct ctx_resolver *resolver, uint64_t address,
				      struct ctx_location *location, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	struct ctx_symbol found;
	uint32_t symbol;

	if (!resolver->kernel_opened)
		status = open_kernel(resolver, err);
	if (status != CTX_OK)
		return status;
	if (resolver->kernel == NULL || !ctx_symtab_find(resolver->kernel, address, &symbol)) {
		status = kernel_object(resolver, "", &location->object, err);
		if (status == CTX_OK)
			status = unknown_of_object(resolver, location->object, &location->function, err);
		return status;
	}
	status = ctx_symtab_get(resolver->kernel, symbol, &found, err);
	if (status == CTX_OK)
		status = kernel_object(resolver, found.module, &location->object, err);
	if (status == CTX_OK)
		status = function_of_symbol(resolver, resolver->kernel, symbol, location->object,
					    resolver->kernel_by_symbol, &location->function, err);
	return status;
}

enum ctx_status ctx_resolver_absolute(struct ctx_resolver *resolver, uint64_t address, uint32_t *ret_location,
				      struct ctx_err *err)
{
	struct ctx_location location = {
		.object = CTX_NONE, .function = CTX_FUNCTION_ID_UNKNOWN, .address = address};
	uint32_t known = ctx_map64_get(&resolver->by_address, address);
	enum ctx_status status = CTX_OK;
	uint32_t *place;

	if (known != CTX_MAP64_NONE) {
		*ret_location = known;
		return CTX_OK;
	}
	if (address == CTX_FRAME_TRUNCATED)
		location.function = CTX_FUNCTION_ID_TRUNCATED;
	else if (address >= CTX_KERNEL_START)
		status = resolve_kernel(resolver, address, &location, err);
	if (status == CTX_OK)
		status = add_location(resolver, &location, ret_location, err);
	if (status != CTX_OK)
		return status;
	place = ctx_map64_place(&resolver->by_address, address);
	if (place == NULL)
		return ctx_err_nomem(err);
	*place = *ret_location;
	return CTX_OK;
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
	return object->opened ? "none: not a file" : "not needed: no samples there";
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
			.symbols = ctx_arena_strdup(resolver->arena, origin_of(resolver, object)),
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
