/*
 *	address --source map--> frames, innermost first --from the outermost--> sites: (function, file, line, caller)
 *
 * Equal sites share one number, and so do the addresses of a line.
 */
#include "base/mem.h"
#include "ingest/resolver.h"
#include "ingest/resolver_impl.h"

#include <stdio.h>
#include <string.h>

void ctx_resolver_sites_deinit(struct ctx_resolver *resolver)
{
	ctx_strtab_deinit(&resolver->site_keys);
	ctx_strtab_deinit(&resolver->files);
	ctx_strtab_deinit(&resolver->inlined_keys);
	free(resolver->sites);
	free(resolver->inlined);
}

enum ctx_status ctx_resolver_file(struct ctx_resolver *resolver, const char *path, uint32_t *ret,
				  struct ctx_err *err)
{
	*ret = CTX_NONE;
	return path != NULL ? ctx_strtab_add_text(&resolver->files, path, ret, err) : CTX_OK;
}

enum ctx_status ctx_resolver_add_site(struct ctx_resolver *resolver, const struct ctx_site *site,
				      uint32_t *ret, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&resolver->sites, &resolver->sites_cap, resolver->n_sites + 1, err);

	if (status == CTX_OK)
		status = ctx_strtab_add(&resolver->site_keys, (const char *)site, sizeof(*site), ret, err);
	if (status == CTX_OK && *ret == resolver->n_sites)
		resolver->sites[resolver->n_sites++] = *site;
	return status;
}

static enum ctx_status new_inlined(struct ctx_resolver *resolver, uint32_t object,
				   const struct ctx_source_frame *frame, uint32_t *ret_function,
				   struct ctx_err *err)
{
	struct ctx_function_info info = {
		.aliases = "", .parts = "", .object = object, .kind = CTX_FUNCTION_ORDINARY, .inlined = true};
	char *name CTX_AUTO_FREE = NULL;

	if (asprintf(&name, "%s (inlined)", frame->function) < 0) {
		name = NULL;
		return ctx_err_nomem(err);
	}
	info.name = ctx_arena_strdup(resolver->arena, name);
	info.linkage_name = ctx_arena_strdup(resolver->arena, frame->linkage_name);
	if (info.name == NULL || info.linkage_name == NULL)
		return ctx_err_nomem(err);
	return ctx_resolver_add_function(resolver, &info, ret_function, err);
}

/* The function for the inlined instances of a function in an object. */
static enum ctx_status inlined_function(struct ctx_resolver *resolver, uint32_t object,
					const struct ctx_source_frame *frame, uint32_t *ret_function,
					struct ctx_err *err)
{
	size_t n = strlen(frame->linkage_name);
	char *key CTX_AUTO_FREE = ctx_calloc(1, sizeof(object) + n);
	enum ctx_status status;
	uint32_t id;

	if (key == NULL)
		return ctx_err_nomem(err);
	memcpy(key, &object, sizeof(object));
	memcpy(key + sizeof(object), frame->linkage_name, n);
	status = ctx_grow(&resolver->inlined, &resolver->inlined_cap, resolver->n_inlined + 1, err);
	if (status == CTX_OK)
		status = ctx_strtab_add(&resolver->inlined_keys, key, sizeof(object) + n, &id, err);
	if (status == CTX_OK && id == resolver->n_inlined) {
		status = new_inlined(resolver, object, frame, &resolver->inlined[id], err);
		if (status == CTX_OK)
			resolver->n_inlined++;
	}
	if (status == CTX_OK)
		*ret_function = resolver->inlined[id];
	return status;
}

static enum ctx_status open_map(struct ctx_resolver *resolver, struct ctx_resolver_object *object,
				struct ctx_err *err)
{
	struct ctx_file_request request = ctx_resolver_request(resolver, object);

	if (object->source_map_opened || !ctx_resolver_has_file(resolver, object))
		return CTX_OK;
	object->source_map_opened = true;
	return ctx_source_map_open(&request, &object->source_map, err);
}

enum ctx_status ctx_resolver_add_sites(struct ctx_resolver *resolver, struct ctx_location *location,
				       struct ctx_err *err)
{
	struct ctx_source_frame frames[CTX_SOURCE_FRAMES_MAX];
	struct ctx_resolver_object *object = &resolver->objects[location->object];
	struct ctx_site site = {.function = location->function, .caller = CTX_NONE};
	enum ctx_status status = open_map(resolver, object, err);
	uint32_t id = CTX_NONE;
	size_t n = 0;

	if (status == CTX_OK && object->source_map != NULL)
		status = ctx_source_map_find(object->source_map, location->address, frames, &n, err);
	for (size_t i = n; i-- > 0 && status == CTX_OK;) {
		if (i + 1 < n && resolver->options.no_inlines)
			break;
		if (i + 1 < n)
			status =
				inlined_function(resolver, location->object, &frames[i], &site.function, err);
		site.line = frames[i].line;
		if (status == CTX_OK)
			status = ctx_resolver_file(resolver, frames[i].file, &site.file, err);
		if (status == CTX_OK)
			status = ctx_resolver_add_site(resolver, &site, &id, err);
		site.caller = id;
	}
	location->site = id;
	location->function = site.function;
	return status;
}

/* The function that a location belongs to, not an inlined one. */
static uint32_t real_function(const struct ctx_resolver *resolver, const struct ctx_location *location,
			      size_t *ret_depth)
{
	uint32_t function = location->function;

	*ret_depth = 1;
	if (location->site == CTX_NONE)
		return function;
	for (const struct ctx_site *site = &resolver->sites[location->site]; site->caller != CTX_NONE;
	     ++*ret_depth) {
		site = &resolver->sites[site->caller];
		function = site->function;
	}
	return function;
}

uint32_t ctx_resolver_location_function(const struct ctx_resolver *resolver, uint32_t location)
{
	size_t depth;

	return real_function(resolver, &resolver->locations[location], &depth);
}

size_t ctx_resolver_function_count(const struct ctx_resolver *resolver, uint32_t location_id,
				   bool *ret_is_part)
{
	const struct ctx_location *location = &resolver->locations[location_id];
	const struct ctx_function_info *function;
	size_t depth;

	*ret_is_part = false;
	if (location->joins)
		return 0;
	function = &resolver->functions[real_function(resolver, location, &depth)];
	*ret_is_part = function->kind == CTX_FUNCTION_ORDINARY && function->parts[0] != '\0' &&
		       location->address - function->offset >= function->size;
	return depth;
}

void ctx_resolver_functions(const struct ctx_resolver *resolver, uint32_t location_id, size_t n,
			    uint32_t *ret)
{
	const struct ctx_location *location = &resolver->locations[location_id];

	if (n == 1) {
		ret[0] = location->function;
		return;
	}
	for (uint32_t site = location->site; n > 0; site = resolver->sites[site].caller)
		ret[--n] = resolver->sites[site].function;
}
