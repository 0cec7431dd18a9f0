/*
 * Internals of a table, for the unwinder: which row applies at an address.
 *
 *	address - base --index (one entry for each 512 bytes)--> first candidate --a few rows on--> row
 *
 * Private to unwind/.
 */
#ifndef CTX_UNWIND_CFI_LOOKUP_H
#define CTX_UNWIND_CFI_LOOKUP_H

#include "elf/elf_file.h"
#include "unwind/cfi_rows.h"
#include "unwind/cfi_rules.h"

#define CTX_CFI_INDEX_SHIFT 9

struct ctx_cfi_function {
	uint32_t begin, end; /* from the base */
};

struct ctx_cfi_table { /* immutable once built */
	enum ctx_machine machine;
	char build_id[CTX_BUILDID_TEXT];
	struct ctx_elf_segment *segments; /* owned */
	size_t n_segments;
	struct ctx_cfi_rules rules;
	struct ctx_cfi_rows rows; /* the first has pc 0, so that every address has a row before it */
	uint32_t *index; /* owned; [i]: last row whose pc is at most i << SHIFT; one entry more than needed */
	size_t n_index;
	struct ctx_cfi_function *functions; /* owned; ascend, do not overlap */
	size_t n_functions;
	size_t damaged; /* FDEs and CIEs that could not be read */
};

/*
 * The index of the row that applies at an address; for addresses outside it is the first row, which
 * has no information.
 */
static inline uint32_t ctx_cfi_table_row(const struct ctx_cfi_table *table, uint64_t address)
{
	uint64_t pc = address - table->rows.base;
	const struct ctx_cfi_row *rows = table->rows.items;
	uint32_t low, high;

	if (pc >> CTX_CFI_INDEX_SHIFT >= table->n_index - 1)
		return 0;
	low = table->index[pc >> CTX_CFI_INDEX_SHIFT];
	high = table->index[(pc >> CTX_CFI_INDEX_SHIFT) + 1];
	while (low < high) {
		uint32_t middle = high - (high - low) / 2;

		if (rows[middle].pc <= pc)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

#endif
