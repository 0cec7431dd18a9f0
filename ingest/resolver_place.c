#include "ingest/resolver_place.h"

#include "base/fileio.h"
#include "ingest/resolver_impl.h"

#include <string.h>

uint32_t ctx_resolver_site(const struct ctx_resolver *resolver, uint32_t location)
{
	uint32_t site = location < resolver->n_locations ? resolver->locations[location].site : CTX_NONE;

	return site < resolver->n_sites ? site : CTX_NONE;
}

struct ctx_resolver_place ctx_resolver_site_place(const struct ctx_resolver *resolver, uint32_t *site)
{
	const struct ctx_site *at = &resolver->sites[*site];
	struct ctx_resolver_place place = {.function = "", .object = "", .line = at->line};

	if (at->function < resolver->n_functions)
		place.function = resolver->functions[at->function].name;
	if (at->file < resolver->files.n)
		place.file = resolver->files.strings[at->file];
	*site = at->caller < resolver->n_sites ? at->caller : CTX_NONE;
	return place;
}

struct ctx_resolver_place ctx_resolver_place(const struct ctx_resolver *resolver, uint32_t location)
{
	struct ctx_resolver_place place = {.function = "", .object = ""};
	uint32_t site = ctx_resolver_site(resolver, location);
	const struct ctx_location *at;

	if (location >= resolver->n_locations)
		return place;
	at = &resolver->locations[location];
	if (site != CTX_NONE)
		place = ctx_resolver_site_place(resolver, &site);
	if (at->object < resolver->n_objects)
		place.object = resolver->objects[at->object].path;
	if (at->function < resolver->n_functions)
		place.function = resolver->functions[at->function].name;
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
