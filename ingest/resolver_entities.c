#include "base/mem.h"
#include "ingest/resolver.h"
#include "ingest/resolver_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#define UNKNOWN_ADDRESSES 64u /* of an object without symbols: functions of their own */
#define UNKNOWN_PAGE 4096u

enum ctx_status ctx_resolver_add_function(struct ctx_resolver *resolver, const struct ctx_function_info *info,
					  uint32_t *ret_function, struct ctx_err *err)
{
	enum ctx_status status =
		ctx_grow(&resolver->functions, &resolver->functions_cap, resolver->n_functions + 1, err);

	if (status != CTX_OK)
		return status;
	resolver->functions[resolver->n_functions] = *info;
	if (info->parts == NULL)
		resolver->functions[resolver->n_functions].parts = "";
	*ret_function = (uint32_t)resolver->n_functions++;
	return CTX_OK;
}

enum ctx_status ctx_resolver_add_artificial(struct ctx_resolver *resolver,
					    struct ctx_resolver_artificial artificial, uint32_t *ret_function,
					    struct ctx_err *err)
{
	struct ctx_function_info info = {.name = artificial.name,
					 .linkage_name = artificial.name,
					 .aliases = "",
					 .parts = "",
					 .object = artificial.object,
					 .kind = artificial.kind};

	return ctx_resolver_add_function(resolver, &info, ret_function, err);
}

enum ctx_status ctx_resolver_object_of_key(struct ctx_resolver *resolver, struct ctx_resolver_key key,
					   const struct ctx_map_event *map, uint32_t *ret_object,
					   struct ctx_err *err)
{
	struct ctx_resolver_object *object;
	enum ctx_status status =
		ctx_grow(&resolver->objects, &resolver->objects_cap, resolver->n_objects + 1, err);
	uint32_t id;

	if (status == CTX_OK)
		status = ctx_strtab_add(&resolver->object_keys, key.key, key.n, &id, err);
	if (status != CTX_OK)
		return status;
	if (id == resolver->n_objects) {
		object = &resolver->objects[resolver->n_objects];
		*object = (struct ctx_resolver_object){
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

uint32_t *ctx_resolver_new_index(uint32_t count)
{
	uint32_t *by_symbol = ctx_calloc(count, sizeof(*by_symbol));

	if (by_symbol != NULL)
		memset(by_symbol, 0xff, count * sizeof(*by_symbol));
	return by_symbol;
}

bool ctx_resolver_has_file(const struct ctx_resolver *resolver, const struct ctx_resolver_object *object)
{
	if (object->is_dynamic)
		return false;
	if (object->path[0] == '/' || object->archive[0] != '\0')
		return true;
	/* A cache can have objects without a file: [vdso]. */
	return object->path[0] == '[' && object->build_id[0] != '\0' && resolver->options.caches != NULL;
}

struct ctx_file_request ctx_resolver_request(const struct ctx_resolver *resolver,
					     const struct ctx_resolver_object *object)
{
	return (struct ctx_file_request){
		.path = object->path,
		.build_id = object->build_id,
		.archive = object->archive,
		.debug_root = resolver->options.debug_root,
		.symfs = resolver->options.symfs,
		.caches = resolver->options.caches,
	};
}

enum ctx_status ctx_resolver_unknown(struct ctx_resolver *resolver, uint32_t object, uint32_t *ret_function,
				     struct ctx_err *err)
{
	struct ctx_resolver_object *place = &resolver->objects[object];

	if (place->unknown == CTX_NONE) {
		enum ctx_status status = ctx_resolver_add_artificial(
			resolver, (struct ctx_resolver_artificial){"<Unknown>", CTX_FUNCTION_UNKNOWN, object},
			&place->unknown, err);
		if (status != CTX_OK)
			return status;
	}
	*ret_function = place->unknown;
	return CTX_OK;
}

struct unknown { /* addresses without a name, the last one included */
	uint32_t object;
	uint64_t first, last;
};

/* "<Unknown>@0x1234", "<Unknown>@0x1000-0x1fff" */
static enum ctx_status add_unknown(struct ctx_resolver *resolver, struct unknown unknown,
				   uint32_t *ret_function, struct ctx_err *err)
{
	struct ctx_resolver_artificial artificial = {.kind = CTX_FUNCTION_UNKNOWN, .object = unknown.object};
	char name[64];
	int n = snprintf(name, sizeof(name), "<Unknown>@0x%" PRIx64, unknown.first);

	if (unknown.last != unknown.first)
		snprintf(name + n, sizeof(name) - (size_t)n, "-0x%" PRIx64, unknown.last);
	artificial.name = ctx_arena_strdup(resolver->arena, name);
	if (artificial.name == NULL)
		return ctx_err_nomem(err);
	return ctx_resolver_add_artificial(resolver, artificial, ret_function, err);
}

enum ctx_status ctx_resolver_unknown_at(struct ctx_resolver *resolver, uint32_t object, uint64_t address,
					uint32_t *ret_function, struct ctx_err *err)
{
	struct ctx_resolver_object *place = &resolver->objects[object];
	uint64_t page = address / UNKNOWN_PAGE;
	enum ctx_status status;
	uint32_t *of_page;

	if (place->n_unknown < UNKNOWN_ADDRESSES) {
		place->n_unknown++;
		return add_unknown(resolver, (struct unknown){object, address, address}, ret_function, err);
	}
	*ret_function = ctx_map64_get(&place->unknown_pages, page);
	if (*ret_function != CTX_MAP64_NONE)
		return CTX_OK;
	of_page = ctx_map64_place(&place->unknown_pages, page);
	if (of_page == NULL)
		return ctx_err_nomem(err);
	*of_page = CTX_NONE;
	status = add_unknown(
		resolver,
		(struct unknown){object, page * UNKNOWN_PAGE, page * UNKNOWN_PAGE + UNKNOWN_PAGE - 1},
		ret_function, err);
	if (status != CTX_OK)
		return status;
	*of_page = *ret_function;
	return CTX_OK;
}

enum ctx_status ctx_resolver_add_location(struct ctx_resolver *resolver, const struct ctx_location *location,
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

const char *ctx_resolver_function_name(const struct ctx_resolver *resolver, uint32_t function)
{
	return resolver->functions[function].name;
}
