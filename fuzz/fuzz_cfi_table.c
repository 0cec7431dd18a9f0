/* Parses arbitrary bytes as an unwind table; the first byte selects an ELF file, .eh_frame or
 * .debug_frame. Every row has a rule, rows ascend, every function is found. */
#include "unwind/cfi_build.h"
#include "unwind/cfi_table.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(const struct ctx_cfi_table *table)
{
	for (size_t i = 0; i < table->rows.n; i++) {
		uint64_t at = table->rows.base + table->rows.items[i].pc;

		if (table->rows.items[i].rule >= table->rules.n || ctx_cfi_table_row(table, at) != i ||
		    (i != 0 && table->rows.items[i].pc <= table->rows.items[i - 1].pc))
			abort();
	}
	for (size_t i = 0; i < table->n_functions; i++) {
		uint64_t begin, end;

		if (!ctx_cfi_table_function(table, table->rows.base + table->functions[i].begin, &begin,
					    &end))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_cfi_source source = {.machine = CTX_MACHINE_X86_64, .n_sections = 1};
	struct ctx_cfi_table *table;
	enum ctx_status status;

	if (size == 0)
		return 0;
	source.sections[0] =
		(struct ctx_cfi_section){.bytes = data + 1, .n = size - 1, .is_eh = (data[0] & 1) != 0};
	if ((data[0] & 2) != 0)
		status = ctx_cfi_table_open_bytes(data + 1, size - 1, &table, NULL);
	else
		status = ctx_cfi_build(&source, &table, NULL);
	if (status != CTX_OK)
		return 0;
	check(table);
	ctx_cfi_table_close(table);
	return 0;
}
