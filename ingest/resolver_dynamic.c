#include "base/buf.h"
#include "base/mem.h"
#include "ingest/resolver.h"
#include "ingest/resolver_impl.h"
#include "symbols/demangle.h"

#include <string.h>

/*
 * The functions of a path are an object beside the file of that path: the key contains a zero byte,
 * unlike a path.
 */
static enum ctx_status dynamic_object(struct ctx_resolver *resolver, const struct ctx_map_event *event,
				      uint32_t *ret_object, struct ctx_err *err)
{
	struct ctx_resolver_key key = {event->path, strlen(event->path) + 1};
	enum ctx_status status = ctx_resolver_object_of_key(resolver, key, event, ret_object, err);

	if (status == CTX_OK)
		resolver->objects[*ret_object].is_dynamic = true;
	return status;
}

static enum ctx_status add_dynamic(struct ctx_resolver *resolver, struct ctx_resolver_object *object,
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
	object->dynamic[object->n_dynamic] = (struct ctx_resolver_dynamic_function){
		.name = name,
		.file_offset = event->file_offset,
		.size = event->size,
		.function = CTX_NONE,
		.file = CTX_NONE,
		.code = event->code,
		.n_code = event->n_code,
		.machine = event->machine,
		.code_kind = event->code_kind,
	};
	*place = (uint32_t)object->n_dynamic++;
	return CTX_OK;
}

enum ctx_status ctx_resolver_dynamic(struct ctx_resolver *resolver, const struct ctx_map_event *event,
				     struct ctx_mapped *map, struct ctx_err *err)
{
	enum ctx_status status = dynamic_object(resolver, event, &map->object, err);
	struct ctx_resolver_object *object;
	const struct ctx_resolver_dynamic_function *known;
	uint32_t *place;

	if (status != CTX_OK)
		return status;
	object = &resolver->objects[map->object];
	place = ctx_map64_place(&object->dynamic_by_offset, event->file_offset);
	if (place == NULL)
		return ctx_err_nomem(err);
	known = *place != CTX_MAP64_NONE ? &object->dynamic[*place] : NULL;
	/*
	 * Where the source's ids are not unique as required, the later one is another function.
	 */
	if (known == NULL || known->size != event->size || strcmp(known->name, event->function) != 0)
		status = add_dynamic(resolver, object, event, place, err);
	if (status != CTX_OK)
		return status;
	map->file_offset = (uint64_t)*place << 32;
	if (map->end - map->begin > CTX_DYNAMIC_BYTES_MAX)
		map->end = map->begin + CTX_DYNAMIC_BYTES_MAX;
	return CTX_OK;
}

/* Where the source has the line of a function by name, or of a position in it. */
static enum ctx_status add_line(struct ctx_resolver *resolver,
				const struct ctx_resolver_dynamic_function *dynamic, uint32_t position,
				struct ctx_location *location, struct ctx_err *err)
{
	struct ctx_site site = {.function = location->function, .file = dynamic->file, .caller = CTX_NONE};

	if (dynamic->file == CTX_NONE)
		return CTX_OK;
	site.line = dynamic->positions == CTX_POSITION_LINE && position != 0 ? position : dynamic->line;
	return ctx_resolver_add_site(resolver, &site, &location->site, err);
}

/* `at`: the file offset in an object of JIT functions. */
enum ctx_status ctx_resolver_of_dynamic(struct ctx_resolver *resolver, uint32_t object, uint64_t at,
					struct ctx_location *location, struct ctx_err *err)
{
	/* Offsets come from ctx_resolver_dynamic. */
	struct ctx_resolver_dynamic_function *dynamic = &resolver->objects[object].dynamic[at >> 32];
	struct ctx_function_info info = {
		.linkage_name = dynamic->name,
		.name = dynamic->name,
		.aliases = "",
		.object = object,
		.offset = dynamic->file_offset,
		.size = dynamic->size,
		.kind = CTX_FUNCTION_ORDINARY,
		.parts = "",
		.code_kind = dynamic->code_kind,
	};
	enum ctx_status status = CTX_OK;

	location->address = dynamic->file_offset + (at & (CTX_DYNAMIC_BYTES_MAX - 1));
	if (dynamic->function == CTX_NONE) {
		struct ctx_buf text CTX_AUTO_BUF = {0};

		if (ctx_demangle(dynamic->name, &text))
			info.name = ctx_arena_strndup(resolver->arena, (const char *)text.bytes, text.n);
		if (text.failed || info.name == NULL)
			return ctx_err_nomem(err);
		status = ctx_resolver_add_function(resolver, &info, &dynamic->function, err);
	}
	location->function = dynamic->function;
	return status == CTX_OK ? add_line(resolver, dynamic, (uint32_t)at, location, err) : status;
}
