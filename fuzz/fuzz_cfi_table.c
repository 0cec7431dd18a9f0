/* Parses arbitrary bytes as an unwind table; the first byte selects an ELF file, .eh_frame or
 * .debug_frame. Every row has a rule, rows ascend, every function is found. */
#include "unwind/cfi_build.h"
#include "unwind/cfi_table.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_part(const struct ctx_cfi_table *table, const struct ctx_cfi_part *part)
{
	for (size_t i = 0; i < part->rows.n; i++) {
		uint64_t at = part->rows.base + part->rows.items[i].pc;

		if (part->rows.items[i].rule >= part->rules.n || ctx_cfi_part_row(part, at) != i ||
		    (i != 0 && part->rows.items[i].pc <= part->rows.items[i - 1].pc))
			abort();
	}
	for (size_t i = 0; i < part->n_functions; i++) {
		uint64_t begin, end;

		if (!ctx_cfi_table_function(table, table->base + part->functions[i].begin, &begin, &end))
			abort();
	}
}

static void check(const struct ctx_cfi_table *table)
{
	for (size_t i = 0; i < table->n_listed; i++) {
		if (i % CTX_CFI_PART == 0)
			check_part(table, ctx_cfi_table_read(table, i / CTX_CFI_PART));
		if (ctx_cfi_table_part(table, table->base + table->listed[i].begin) !=
		    ctx_cfi_table_read(table, i / CTX_CFI_PART))
			abort();
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_cfi_source source = {.machine = CTX_MACHINE_X86_64, .sections.n = 1};
	struct ctx_cfi_table *table;
	enum ctx_status status;

	if (size == 0)
		return 0;
	source.sections.items[0] =
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
