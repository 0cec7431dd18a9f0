/*
 * Hash map from a 64-bit key to a 32-bit value, for hot paths: open addressing, linear probing, no removal.
 *
 * Value 0xffffffff (CTX_MAP64_NONE) cannot be stored: it marks a free slot. For ordinary maps use uthash. All
 * zero is a valid empty map. A lookup costs one multiplication and, at a load of at most 5/8, 1.5 probes on
 * average.
 */
#ifndef CTX_BASE_MAP64_H
#define CTX_BASE_MAP64_H

#include "base/err.h"

#include <stdint.h>

#define CTX_MAP64_NONE UINT32_MAX

struct ctx_map64_slot {
	uint64_t key;
	uint32_t value;
	uint32_t padding;
};

struct ctx_map64 {
	struct ctx_map64_slot *slots; /* owned */
	size_t cap;		      /* 0 or a power of two */
	size_t n;
	unsigned shift; /* 64 - log2(cap) */
};

void ctx_map64_deinit(struct ctx_map64 *map);

/* Forgets all keys, keeps the memory. O(cap). */
void ctx_map64_clear(struct ctx_map64 *map);

/* The value stored for `key`, or CTX_MAP64_NONE. */
uint32_t ctx_map64_get(const struct ctx_map64 *map, uint64_t key);

/*
 * The place of the value for `key`; a new key gets CTX_MAP64_NONE there, which the caller replaces at once.
 * The place is valid until the next call. NULL when memory is short.
 */
uint32_t *ctx_map64_place(struct ctx_map64 *map, uint64_t key);

static inline uint64_t ctx_hash64(uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15u;
	key ^= key >> 29;
	return key * 0xbf58476d1ce4e5b9u;
}

#endif
