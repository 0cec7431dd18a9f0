#include "report/omp_page.h"

#include "base/fileio.h"
#include "model/omp.h"

#include <inttypes.h>
#include <string.h>

/* The load object of the innermost function around a construct that is none itself; "" unknown. */
static const char *object_around(const struct ctx_profile *profile, uint32_t stack)
{
	const struct ctx_trie *cct = &profile->cct;

	while (cct->parent[stack] != CTX_TRIE_ROOT &&
	       strstr(profile->functions[cct->key[stack]].name, CTX_OMP_NAME) != NULL)
		stack = cct->parent[stack];
	return profile->functions[cct->key[stack]].object < profile->n_objects
		       ? profile->objects[profile->functions[cct->key[stack]].object].path
		       : "";
}

struct ctx_omp_place ctx_omp_place_of(const struct ctx_profile *profile, const struct ctx_code *code,
				      const struct ctx_traced *operation)
{
	struct ctx_omp_place place = {.function = "<Unknown>", .object = ""};
	const struct ctx_trie *cct = &profile->cct;
	uint32_t stack = operation->stack, location;

	if (stack != CTX_TRIE_ROOT && stack < cct->n && cct->key[stack] < profile->n_functions) {
		place.function = profile->functions[cct->key[stack]].name;
		place.object = object_around(profile, stack);
	}
	if (code->raw_stacks == NULL || operation->raw_stack >= code->raw_stacks->n ||
	    operation->raw_stack == CTX_TRIE_ROOT)
		return place;
	location = code->raw_stacks->key[operation->raw_stack];
	if (location < code->n_locations && code->locations[location].site < code->n_sites) {
		const struct ctx_site *site = &code->sites[code->locations[location].site];

		place.line = site->line;
		if (site->file < code->n_files)
			place.file = code->files[site->file].path;
	}
	return place;
}

const char *ctx_omp_place_text(struct ctx_traced_page *page, const struct ctx_omp_place *place)
{
	int n = (int)ctx_omp_function_length(place->function);

	return place->line != 0 ? ctx_traced_text(page, "%.*s:%" PRIu32, n, place->function, place->line)
				: ctx_traced_text(page, "%.*s", n, place->function);
}
