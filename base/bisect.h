/*
 * Binary search: the number of items of a sorted array that come before a position, which is the
 * index of the first item that does not.
 *
 *	ctx_count_below(items, n, member, key)	ascending by a uint64_t or uint32_t: member < key
 *	ctx_count_up_to(items, n, member, key)	the same: member <= key
 *	ctx_bisect(items, n, is_before, key)	any order: is_before(items, i, key) holds for the
 *						first items and for none after them
 *
 * O(log n). All of it is inlined: a search costs what a loop written by hand costs. `items` may be
 * NULL if n is 0.
 */
#ifndef CTX_BASE_BISECT_H
#define CTX_BASE_BISECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_ALWAYS_INLINE static inline __attribute__((always_inline))

typedef bool ctx_bisect_is_before(const void *items, size_t i, uint64_t key);

CTX_ALWAYS_INLINE size_t ctx_bisect(const void *items, size_t n, ctx_bisect_is_before *is_before,
				    uint64_t key)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;

		if (is_before(items, middle, key))
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

/* Where the key of an item is; for the macros below. */
struct ctx_key_place {
	size_t stride; /* bytes from item to item */
	size_t offset; /* bytes from the begin of an item */
	size_t size;   /* of the key: 4 or 8 bytes */
};

CTX_ALWAYS_INLINE uint64_t ctx_key_at(const void *items, size_t i, struct ctx_key_place place)
{
	const char *key = (const char *)items + i * place.stride + place.offset;

	return place.size == sizeof(uint64_t) ? *(const uint64_t *)(const void *)key
					      : *(const uint32_t *)(const void *)key;
}

CTX_ALWAYS_INLINE size_t ctx_count_keys(const void *items, size_t n, struct ctx_key_place place, uint64_t key,
					bool or_equal)
{
	size_t low = 0;

	while (low < n) {
		size_t middle = low + (n - low) / 2;
		uint64_t at = ctx_key_at(items, middle, place);

		if (or_equal ? at <= key : at < key)
			low = middle + 1;
		else
			n = middle;
	}
	return low;
}

#define CTX_KEY_PLACE(items, member)                                                                         \
	((struct ctx_key_place){sizeof(*(items)), offsetof(__typeof__(*(items)), member),                    \
				_Generic((items)->member, uint64_t : 8, uint32_t : 4)})

#define ctx_count_below(items, n, member, key)                                                               \
	ctx_count_keys((items), (n), CTX_KEY_PLACE(items, member), (key), false)
#define ctx_count_up_to(items, n, member, key)                                                               \
	ctx_count_keys((items), (n), CTX_KEY_PLACE(items, member), (key), true)

/* The same for an array of keys. */
CTX_ALWAYS_INLINE size_t ctx_count_below_u64(const uint64_t *keys, size_t n, uint64_t key)
{
	return ctx_count_keys(keys, n, (struct ctx_key_place){sizeof(*keys), 0, sizeof(*keys)}, key, false);
}

CTX_ALWAYS_INLINE size_t ctx_count_up_to_u64(const uint64_t *keys, size_t n, uint64_t key)
{
	return ctx_count_keys(keys, n, (struct ctx_key_place){sizeof(*keys), 0, sizeof(*keys)}, key, true);
}

#endif
