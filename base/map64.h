/*
 * Hash map from a 64-bit key to a 32-bit value: open addressing, linear probing.
 *
 * Value 0xffffffff (CTX_MAP64_NONE) cannot be stored: it marks a free slot. All zero is a valid
 * empty map. A lookup costs one multiplication and, at a load of at most 5/8, 1.5 probes on
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

/* Removes all keys, keeps the memory. O(cap). */
void ctx_map64_clear(struct ctx_map64 *map);

/* Removes a key; nothing happens where there is none. The memory stays. O(1) on average. */
void ctx_map64_remove(struct ctx_map64 *map, uint64_t key);

static inline uint64_t ctx_hash64(uint64_t key)
{
	key ^= key >> 32;
	key *= 0x9e3779b97f4a7c15u;
	key ^= key >> 29;
	return key * 0xbf58476d1ce4e5b9u;
}

/* The slot that holds `key`, or the free slot where it would go. Not for an empty map. */
static inline struct ctx_map64_slot *ctx_map64_slot(const struct ctx_map64 *map, uint64_t key)
{
	size_t i = (size_t)(ctx_hash64(key) >> map->shift);

	while (map->slots[i].value != CTX_MAP64_NONE && map->slots[i].key != key)
		i = (i + 1) & (map->cap - 1);
	return &map->slots[i];
}

/* The value stored for `key`, or CTX_MAP64_NONE. */
static inline uint32_t ctx_map64_get(const struct ctx_map64 *map, uint64_t key)
{
	return map->cap != 0 ? ctx_map64_slot(map, key)->value : CTX_MAP64_NONE;
}

/* Prefetches the slot of `key` for a lookup soon after: a large map is not in the caches. */
static inline void ctx_map64_prefetch(const struct ctx_map64 *map, uint64_t key)
{
	if (map->cap != 0)
		__builtin_prefetch(&map->slots[ctx_hash64(key) >> map->shift]);
}

/* Adds a key that is not in the map and returns the place of its value. NULL: out of memory. */
uint32_t *ctx_map64_add(struct ctx_map64 *map, uint64_t key);

/*
 * The place of the value for `key`; a new key gets CTX_MAP64_NONE there, which the caller replaces
 * at once. The place is valid until the next call. NULL: out of memory.
 */
static inline uint32_t *ctx_map64_place(struct ctx_map64 *map, uint64_t key)
{
	struct ctx_map64_slot *slot = map->cap != 0 ? ctx_map64_slot(map, key) : NULL;

	return slot != NULL && slot->value != CTX_MAP64_NONE ? &slot->value : ctx_map64_add(map, key);
}

#endif
