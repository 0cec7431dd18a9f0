#include "base/bisect.h"
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
		.places = event->places,
	};
	*place = (uint32_t)object->n_dynamic++;
	return CTX_OK;
}

static bool is_same(const struct ctx_resolver_dynamic_function *known, const struct ctx_map_event *event)
{
	return known->size == event->size && known->code_kind == event->code_kind &&
	       known->n_code == event->n_code &&
	       (event->n_code == 0 || memcmp(known->code, event->code, event->n_code) == 0) &&
	       strcmp(known->name, event->function) == 0;
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
	if (known == NULL || !is_same(known, event))
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

/*
 * The function of a method that runs in one way: it is one, however often it was compiled. `info` has its object, kind
 * and place, which are those of the first time.
 */
static enum ctx_status method_function(struct ctx_resolver *resolver, const struct ctx_function_info *info,
				       uint32_t *ret, struct ctx_err *err)
{
	struct ctx_buf key CTX_AUTO_BUF = {0};
	enum ctx_status status =
		ctx_grow(&resolver->inlined, &resolver->inlined_cap, resolver->n_inlined + 1, err);
	struct ctx_function_info copy = *info;
	uint32_t id;

	/* A name that is linked has no zero byte: these are others than those of inlined functions. */
	ctx_buf_put_u32(&key, info->object);
	ctx_buf_put_u8(&key, 0);
	ctx_buf_put_u8(&key, (uint8_t)info->code_kind);
	ctx_buf_put_text(&key, info->linkage_name);
	if (status == CTX_OK)
		status = ctx_buf_check(&key, err);
	if (status == CTX_OK)
		status = ctx_strtab_add(&resolver->inlined_keys, (const char *)key.bytes, key.n, &id, err);
	if (status != CTX_OK)
		return status;
	if (id == resolver->n_inlined) {
		copy.linkage_name = ctx_arena_strdup(resolver->arena, info->linkage_name);
		copy.name = copy.linkage_name;
		if (copy.name == NULL)
			return ctx_err_nomem(err);
		status = ctx_resolver_add_function(resolver, &copy, &resolver->inlined[id], err);
		if (status != CTX_OK)
			return status;
		resolver->n_inlined++;
	}
	*ret = resolver->inlined[id];
	return CTX_OK;
}

static enum ctx_status inlined_method(struct ctx_resolver *resolver, uint32_t object, const char *name,
				      uint32_t *ret, struct ctx_err *err)
{
	const struct ctx_function_info info = {.name = name,
					       .linkage_name = name,
					       .aliases = "",
					       .parts = "",
					       .object = object,
					       .kind = CTX_FUNCTION_ORDINARY,
					       .code_kind = CTX_CODE_JAVA_INLINED,
					       .inlined = true};

	return method_function(resolver, &info, ret, err);
}

/* The row of an offset; NULL: there is none. */
static const struct ctx_jit_row *row_of(const struct ctx_jit_places *places, uint64_t offset)
{
	size_t n = ctx_count_up_to(places->rows, places->n_rows, begin, offset);

	return n != 0 ? &places->rows[n - 1] : NULL;
}

#define INLINED_MAX 1024u

/* The sites of a place of JIT code, from the function itself to what is inlined there. */
static enum ctx_status add_places(struct ctx_resolver *resolver, const struct ctx_jit_places *places,
				  uint64_t offset, struct ctx_location *location, struct ctx_err *err)
{
	const struct ctx_jit_row *row = row_of(places, offset);
	uint32_t chain[INLINED_MAX], n = 0, id = CTX_NONE;
	enum ctx_status status = CTX_OK;

	for (uint32_t at = row != NULL ? row->site : CTX_NONE; at != CTX_NONE && n < INLINED_MAX;
	     at = places->sites[at].caller)
		chain[n++] = at;
	for (uint32_t i = n; i-- > 0 && status == CTX_OK;) {
		const struct ctx_jit_site *from = &places->sites[chain[i]];
		struct ctx_site site = {.function = location->function, .line = from->line, .caller = id};

		if (i + 1 < n && resolver->options.no_inlines)
			break;
		if (i + 1 < n)
			status = inlined_method(resolver, location->object, from->function, &site.function,
						err);
		if (status == CTX_OK)
			status = ctx_resolver_file(resolver, from->file, &site.file, err);
		if (status == CTX_OK)
			status = ctx_resolver_add_site(resolver, &site, &id, err);
		location->site = id;
		location->function = site.function;
	}
	return status;
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
	const struct ctx_jit_places *places = dynamic->places;
	enum ctx_status status = CTX_OK;

	location->address = dynamic->file_offset + (at & (CTX_DYNAMIC_BYTES_MAX - 1));
	if (dynamic->function == CTX_NONE && dynamic->code_kind != CTX_CODE_NATIVE) {
		status = method_function(resolver, &info, &dynamic->function, err);
	} else if (dynamic->function == CTX_NONE) {
		struct ctx_buf text CTX_AUTO_BUF = {0};

		if (ctx_demangle(dynamic->name, &text))
			info.name = ctx_arena_strndup(resolver->arena, (const char *)text.bytes, text.n);
		if (text.failed || info.name == NULL)
			return ctx_err_nomem(err);
		status = ctx_resolver_add_function(resolver, &info, &dynamic->function, err);
	}
	location->function = dynamic->function;
	if (status == CTX_OK && places != NULL)
		return add_places(resolver, places, at & (CTX_DYNAMIC_BYTES_MAX - 1), location, err);
	return status == CTX_OK ? add_line(resolver, dynamic, (uint32_t)at, location, err) : status;
}
