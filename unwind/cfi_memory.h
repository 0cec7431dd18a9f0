/*
 * Memory that an unwinder may read: only the copied stack. Private to unwind/.
 */
#ifndef CTX_UNWIND_CFI_MEMORY_H
#define CTX_UNWIND_CFI_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ctx_cfi_memory {
	const uint8_t *bytes; /* borrowed */
	size_t n;
	uint64_t address; /* of the first byte */
};

/* Reads 8 bytes; false if they are not entirely in the copy. */
static inline bool ctx_cfi_memory_read(const struct ctx_cfi_memory *memory, uint64_t address, uint64_t *ret)
{
	uint64_t at = address - memory->address;

	if (memory->n < sizeof(*ret) || at > memory->n - sizeof(*ret))
		return false;
	memcpy(ret, memory->bytes + at, sizeof(*ret));
	return true;
}

#endif
