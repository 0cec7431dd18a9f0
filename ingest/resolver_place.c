#include "ingest/resolver_place.h"

#include "ingest/resolver_impl.h"

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
