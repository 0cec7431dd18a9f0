/* A copy of /proc/kallsyms of any bytes, plain or zstd: each symbol has a name, a size, and is found at its
 * own start. */
#include "symbols/symtab.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_symtab *table;

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
