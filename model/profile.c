#include "model/profile.h"

#include <stdlib.h>
#include <string.h>

void ctx_profile_deinit(struct ctx_profile *profile)
{
	free(profile->properties);
	free(profile->warnings);
	free(profile->functions);
	free(profile->objects);
	free(profile->processes);
	free(profile->threads);
	free(profile->metrics);
	free(profile->usage);
	ctx_trie_deinit(&profile->cct);
	ctx_arena_deinit(&profile->arena);
	*profile = (struct ctx_profile){0};
}

const char *ctx_profile_property(const struct ctx_profile *profile, const char *key, const char *otherwise)
{
	for (size_t i = 0; i < profile->n_properties; i++) {
		if (strcmp(profile->properties[i].key, key) == 0)
			return profile->properties[i].value;
	}
	return otherwise;
}
