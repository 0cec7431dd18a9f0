#include "base/xxh.h"

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wconversion"
#pragma GCC diagnostic ignored "-Wsign-conversion"
#define XXH_INLINE_ALL
#include <xxhash.h>
#pragma GCC diagnostic pop

uint64_t ctx_xxh3(const void *bytes, size_t n)
{
	return XXH3_64bits(bytes, n);
}

uint64_t ctx_xxh3_128(const void *bytes, size_t n, uint64_t *ret_high)
{
	XXH128_hash_t hash = XXH3_128bits(bytes, n);

	*ret_high = hash.high64;
	return hash.low64;
}
