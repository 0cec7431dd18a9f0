/*
 *	number of the source --> (object of JIT functions, place in it) --position--> location, site
 *
 * A function by name is kept as JIT code without instructions and addresses: its place in the
 * module's object is its number and the position, so that each position is a location of its own.
 */
#include "base/mem.h"
#include "ingest/resolver.h"
#include "ingest/resolver_impl.h"

enum ctx_status ctx_resolver_add_named(struct ctx_resolver *resolver,
				       const struct ctx_event_function *function, struct ctx_err *err)
{
	struct ctx_resolver_named_functions *named = &resolver->named;
	const struct ctx_map_event described = {
		.file_offset = (uint64_t)function->id << CTX_FRAME_POSITION_BITS,
		.size = function->size,
		.path = function->module,
		.build_id = "",
		.archive = "",
		.function = function->name,
		.code_kind = function->code_kind,
	};
	uint32_t *place = ctx_map64_place(&named->of_id, function->id);
	enum ctx_status status = ctx_grow(&named->items, &named->cap, named->n + 1, err);
	struct ctx_resolver_dynamic_function *dynamic;
	struct ctx_mapped map = {0};

	if (place == NULL || status != CTX_OK)
		return ctx_err_nomem(err);
	if (*place != CTX_MAP64_NONE)
		return ctx_err_set(err, CTX_E_FORMAT, "function %u was announced twice", function->id);
	status = ctx_resolver_dynamic(resolver, &described, &map, err);
	if (status != CTX_OK)
		return status;
	dynamic = &resolver->objects[map.object].dynamic[map.file_offset >> 32];
	dynamic->line = function->line;
	dynamic->positions = function->positions;
	status = ctx_resolver_file(resolver, function->file, &dynamic->file, err);
	if (status != CTX_OK)
		return status;
	*place = (uint32_t)named->n;
	named->items[named->n++] = (struct ctx_resolver_named){map.object, map.file_offset};
	return CTX_OK;
}

enum ctx_status ctx_resolver_named(struct ctx_resolver *resolver, uint64_t frame, uint32_t *ret_location,
				   struct ctx_err *err)
{
	uint32_t index = ctx_map64_get(&resolver->named.of_id, ctx_frame_function(frame));
	const struct ctx_resolver_named *named;

	if (index == CTX_MAP64_NONE)
		return ctx_resolver_absolute(resolver, frame, ret_location, err);
	named = &resolver->named.items[index];
	return ctx_resolver_in_object(resolver, named->object, named->file_offset + ctx_frame_position(frame),
				      ret_location, err);
}
