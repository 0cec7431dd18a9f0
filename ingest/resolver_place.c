#include "ingest/resolver_place.h"

#include "base/fileio.h"
#include "ingest/resolver_impl.h"

#include <string.h>

struct ctx_resolver_place ctx_resolver_place(const struct ctx_resolver *resolver, uint32_t location)
{
	struct ctx_resolver_place place = {.function = "", .object = ""};
	const struct ctx_location *at;
	const struct ctx_site *site;

	if (location >= resolver->n_locations)
		return place;
	at = &resolver->locations[location];
	if (at->object < resolver->n_objects)
		place.object = resolver->objects[at->object].path;
	if (at->function < resolver->n_functions)
		place.function = resolver->functions[at->function].name;
	if (at->site >= resolver->n_sites)
		return place;
	site = &resolver->sites[at->site];
	place.line = site->line;
	if (site->file < resolver->files.n)
		place.file = resolver->files.strings[site->file];
	return place;
}

size_t ctx_resolver_n_functions(const struct ctx_resolver *resolver)
{
	return resolver->n_functions;
}

bool ctx_resolver_is_of_object(const struct ctx_resolver *resolver, uint32_t function, const char *name)
{
	uint32_t object = resolver->functions[function].object;

	return object < resolver->n_objects &&
	       strcmp(ctx_path_base(resolver->objects[object].path), name) == 0;
}

void ctx_resolver_rename(struct ctx_resolver *resolver, uint32_t function, const char *name,
			 enum ctx_code_kind kind)
{
	struct ctx_function_info *info = &resolver->functions[function];

	if (name != NULL)
		info->name = name;
	info->code_kind = kind;
}

void ctx_resolver_join_object(struct ctx_resolver *resolver, uint32_t location, uint32_t of)
{
	uint32_t function = ctx_resolver_location_function(resolver, location),
		 other = of != CTX_NONE ? ctx_resolver_location_function(resolver, of) : CTX_NONE;

	if (function != CTX_NONE && other != CTX_NONE)
		resolver->functions[function].object = resolver->functions[other].object;
}
