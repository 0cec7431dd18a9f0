/*
 * Chain table: maps a whole stack (an array of numbers) to its raw stack, by a hash of all numbers.
 *
 * The hash has 96 bits and stands for the stack: with a hundred million distinct stacks two of them
 * are confused with a probability of 1e-13. All zero is a valid empty table.
 */
#ifndef CTX_INGEST_CHAIN_TABLE_H
#define CTX_INGEST_CHAIN_TABLE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_CHAIN_NONE UINT32_MAX

struct ctx_chain_slot {
	uint64_t hash;
	uint32_t more_hash;
	uint32_t raw; /* raw stack node; CTX_CHAIN_NONE: free, or to be filled in */
};

struct ctx_chain_table {
	struct ctx_chain_slot *slots; /* owned; cap is a power of two or 0 */
	size_t cap, n;
};

void ctx_chain_table_deinit(struct ctx_chain_table *table);

/* Removes all entries, keeps the memory. O(cap). */
void ctx_chain_table_clear(struct ctx_chain_table *table);

/*
 * The slot of the raw stack of these bytes; it holds CTX_CHAIN_NONE when they are new, and the
 * caller fills it before the next call. Valid until then. NULL: out of memory. O(n).
 */
uint32_t *ctx_chain_table_place(struct ctx_chain_table *table, const void *bytes, size_t n);

#endif
