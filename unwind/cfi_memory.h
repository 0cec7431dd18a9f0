/*
 * Memory that an unwinder may read: only the copied stack. Private to unwind/.
 */
#ifndef CTX_UNWIND_CFI_MEMORY_H
#define CTX_UNWIND_CFI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/*
 * Bytes of an address on the stack: those of the machine that this is built for. The recorder unwinds programs of 64 bits,
 * the runtime the program that it is in.
 */
#define CTX_CFI_WORD sizeof(uintptr_t)

struct ctx_cfi_memory {
	const uint8_t *bytes; /* borrowed */
	size_t n;
	uint64_t address; /* of the first byte */
};

/* Reads a word; false if it is not entirely in the copy. */
static inline bool ctx_cfi_memory_read(const struct ctx_cfi_memory *memory, uint64_t address, uint64_t *ret)
{
	uint64_t at = address - memory->address;
	uintptr_t value;

	if (memory->n < sizeof(value) || at > memory->n - sizeof(value))
		return false;
	memcpy(&value, memory->bytes + at, sizeof(value));
	*ret = value;
	return true;
}

#endif
