/*
 * Internals of a table, for the unwinder: which row applies at an address.
 *
 *	address - base --index (one entry for each 512 bytes)--> first candidate --a few on--> function
 *	function / PART --> part, read from the file when it is first asked for --> row --> rule
 *
 * Private to unwind/.
 */
#ifndef CTX_UNWIND_CFI_LOOKUP_H
#define CTX_UNWIND_CFI_LOOKUP_H

#include "elf/elf_file.h"
#include "unwind/cfi_rows.h"
#include "unwind/cfi_rules.h"

#define CTX_CFI_INDEX_SHIFT 9
#define CTX_CFI_PART 2u /* functions of a part */

struct ctx_cfi_function {
	uint32_t begin, end; /* from the base */
};

struct ctx_cfi_part { /* immutable once it can be reached */
	struct ctx_cfi_rules rules;
	/*
	 * The first is at the part's first function, of the first part at the base; those of the function behind the part
	 * are there, too, so that each row of the part has its successor.
	 */
	struct ctx_cfi_rows rows;
	struct ctx_cfi_function functions[CTX_CFI_PART]; /* that could be read; ascend, do not overlap */
	uint32_t n_functions;
	uint32_t damaged;
};

struct ctx_cfi_listed { /* a function */
	uint32_t begin; /* from the base */
	uint32_t at;	/* of its description (FDE): CTX_CFI_SECOND, and the offset in the section */
};

#define CTX_CFI_SECOND (UINT32_C(1) << 31) /* in the second section */

struct ctx_cfi_reader;

struct ctx_cfi_table { /* immutable once built, but for the parts that are read */
	enum ctx_machine machine;
	char build_id[CTX_BUILDID_TEXT];
	struct ctx_elf_segment *segments; /* owned */
	size_t n_segments;
	uint64_t base; /* one before the first function; addresses are relative to it, modulo 2^64 */
	struct ctx_cfi_listed *listed; /* owned; begins ascend */
	size_t n_listed;	       /* not 0 */
	uint32_t *
		index; /* owned; [i]: last function that begins at most at i << SHIFT, or 0; one more than needed */
	size_t n_index;
	size_t damaged;		       /* descriptions that could not be listed */
	struct ctx_cfi_part *none;     /* owned: one row, without information */
	struct ctx_cfi_part **parts;   /* owned; NULL: not read yet. To be read by ctx_cfi_table_part alone */
	struct ctx_cfi_reader *reader; /* owned */
};

/* Reads the i-th part, unless another thread has done so. `none` where memory runs out; a later call tries again. */
const struct ctx_cfi_part *ctx_cfi_table_read(const struct ctx_cfi_table *table, size_t i);

/* The last function that begins at or before a pc (from the base), or the first one. */
static inline size_t ctx_cfi_table_listed(const struct ctx_cfi_table *table, uint64_t pc)
{
	const struct ctx_cfi_listed *listed = table->listed;
	uint32_t low, high;

	if (pc >> CTX_CFI_INDEX_SHIFT >= table->n_index - 1)
		return table->n_listed - 1;
	low = table->index[pc >> CTX_CFI_INDEX_SHIFT];
	high = table->index[(pc >> CTX_CFI_INDEX_SHIFT) + 1];
	while (low < high) {
		uint32_t middle = high - (high - low) / 2;

		if (listed[middle].begin <= pc)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* The part with the row of an address; for those that are outside, the one without information. Any number of threads. */
static inline const struct ctx_cfi_part *ctx_cfi_table_part(const struct ctx_cfi_table *table,
							    uint64_t address)
{
	uint64_t pc = address - table->base;
	const struct ctx_cfi_part *part;
	size_t i;

	if (pc > UINT32_MAX)
		return table->none;
	i = ctx_cfi_table_listed(table, pc) / CTX_CFI_PART;
	part = __atomic_load_n(&table->parts[i], __ATOMIC_ACQUIRE);
	return part != NULL ? part : ctx_cfi_table_read(table, i);
}

/* The index of the row that applies at an address of the part. */
static inline uint32_t ctx_cfi_part_row(const struct ctx_cfi_part *part, uint64_t address)
{
	uint64_t pc = address - part->rows.base;
	const struct ctx_cfi_row *rows = part->rows.items;
	uint32_t low = 0, high = (uint32_t)part->rows.n - 1;

	while (low < high) {
		uint32_t middle = high - (high - low) / 2;

		if (rows[middle].pc <= pc)
			low = middle;
		else
			high = middle - 1;
	}
	return low;
}

/* The rule of an address. */
static inline const struct ctx_cfi_summary *ctx_cfi_table_summary(const struct ctx_cfi_table *table,
								  uint64_t address)
{
	const struct ctx_cfi_part *part = ctx_cfi_table_part(table, address);

	return &part->rules.summaries[part->rows.items[ctx_cfi_part_row(part, address)].rule];
}

#endif
