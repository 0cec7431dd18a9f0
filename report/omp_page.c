#include "report/omp_page.h"

struct ctx_omp_place ctx_omp_place_of(const struct ctx_profile *profile, const struct ctx_code *code,
				      const struct ctx_traced *operation)
{
	struct ctx_omp_place place = {.function = "<Unknown>", .object = ""};
	const struct ctx_trie *cct = &profile->cct;
	uint32_t stack = operation->stack, location;

	if (stack != CTX_TRIE_ROOT && stack < cct->n && cct->key[stack] < profile->n_functions) {
		uint32_t parent = cct->parent[stack];
		uint32_t around = parent != CTX_TRIE_ROOT ? cct->key[parent] : cct->key[stack];

		place.function = profile->functions[cct->key[stack]].name;
		if (around < profile->n_functions && profile->functions[around].object < profile->n_objects)
			place.object = profile->objects[profile->functions[around].object].path;
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
