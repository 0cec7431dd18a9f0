/*
 * XXH3, inlined from Debian's xxhash header: checksums of blocks and hashes of strings. Nothing is
 * linked for it.
 */
#ifndef CTX_BASE_XXH_H
#define CTX_BASE_XXH_H

#include <stddef.h>
#include <stdint.h>

/* XXH3 with 64 bits and seed 0, as the xxhsum tool prints it (-H3). */
uint64_t ctx_xxh3(const void *bytes, size_t n);

/* XXH3 with 128 bits and seed 0 (-H2): `*ret_high` gets the upper half, the lower is returned. */
uint64_t ctx_xxh3_128(const void *bytes, size_t n, uint64_t *ret_high);

#endif
