/* Opens arbitrary bytes as an ELF file, and reads and looks up every symbol: a lookup returns a
 * symbol that covers the address. */
#include "symbols/symtab.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_symbol(struct ctx_symtab *table, uint32_t index)
{
	struct ctx_symbol symbol;
	uint32_t found;

	if (ctx_symtab_get(table, index, &symbol, NULL) != CTX_OK)
		abort();
	if (symbol.name[0] == '\0' || symbol.size == 0 || symbol.start + symbol.size < symbol.start ||
	    symbol.whole >= ctx_symtab_count(table))
		abort();
	if (!ctx_symtab_find(table, symbol.start, &found) || found != index)
		abort();
	if (!ctx_symtab_find(table, symbol.start + symbol.size - 1, &found) || found < index)
		abort();
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_symtab *table;
	uint64_t address = 0;

	if (ctx_symtab_open_bytes(data, size, &table, NULL) != CTX_OK)
		return 0;
	if ((ctx_symtab_count(table) == 0) != (strncmp(ctx_symtab_origin(table), "none: ", 6) == 0))
		abort();
	for (uint32_t i = 0; i < ctx_symtab_count(table); i++)
		check_symbol(table, i);
	for (uint64_t offset = 0; offset < size; offset += 64) {
		uint32_t found;

		if (ctx_symtab_address(table, offset, &address) && ctx_symtab_find(table, address, &found) &&
		    found >= ctx_symtab_count(table))
			abort();
	}
	ctx_symtab_close(table);
	return 0;
}
