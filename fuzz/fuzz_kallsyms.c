/* Reads arbitrary bytes as a copy of /proc/kallsyms, plain or zstd: each symbol has a name, a size,
 * and is found at its own start, with and without relocation of the kernel. */
#include "base/mem.h"
#include "symbols/kallsyms.h"
#include "symbols/symtab.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* The same lines of a kernel at another address. */
static void move_elsewhere(const uint8_t *data, size_t size)
{
	static const struct ctx_kallsyms_reference reference = {"_text", 0xffffffff93000000, false};
	char *text = ctx_memdup0(data, size);
	struct ctx_symset set = {0};

	if (text != NULL && ctx_kallsyms_add(text, size, &reference, &set, NULL) == CTX_OK) {
		if (ctx_symset_freeze(&set, NULL) != CTX_OK)
			abort();
		for (uint32_t i = 0; i < set.n; i++) {
			uint32_t found;

			if (!ctx_symset_find(&set, set.entries[i].start, &found) || found != i)
				abort();
		}
	}
	ctx_symset_deinit(&set);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_symtab *table;

	move_elsewhere(data, size);
	if (ctx_symtab_open_kallsyms_bytes(data, size, &table, NULL) != CTX_OK)
		return 0;
	if (ctx_symtab_count(table) == 0)
		abort();
	for (uint32_t i = 0; i < ctx_symtab_count(table); i++) {
		struct ctx_symbol symbol;
		uint32_t found;

		if (ctx_symtab_get(table, i, &symbol, NULL) != CTX_OK || symbol.name[0] == '\0' ||
		    symbol.size == 0)
			abort();
		if (!ctx_symtab_find(table, symbol.start, &found) || found != i)
			abort();
	}
	ctx_symtab_close(table);
	return 0;
}
