/* Reads arbitrary bytes as a perf map: every function has a name and is found at its own start. */
#include "base/mem.h"
#include "symbols/perf_map.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = ctx_memdup0(data, size);
	struct ctx_symset set = {0};

	if (text == NULL || ctx_perf_map_add(text, size, &set, NULL) != CTX_OK) {
		ctx_symset_deinit(&set);
		free(text);
		return 0;
	}
	if (ctx_symset_freeze(&set, NULL) != CTX_OK || set.n == 0)
		abort();
	free(text);
	for (uint32_t i = 0; i < set.n; i++) {
		const struct ctx_symset_entry *entry = &set.entries[i];
		uint32_t found;

		if (entry->size == 0 || entry->size > UINT64_MAX - entry->start || entry->alias_count != 0 ||
		    set.text[entry->name] == '\0')
			abort();
		if (!ctx_symset_find(&set, entry->start, &found) || found != i)
			abort();
	}
	ctx_symset_deinit(&set);
	return 0;
}
