/*
 * Unaligned numbers in the byte order of the recorded machine.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_WIRE_H
#define CTX_FORMATS_GPROFNG_GP_WIRE_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

static inline uint16_t ctx_gp_u16(const uint8_t *at, bool big_endian)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? __builtin_bswap16(value) : value;
}

static inline uint32_t ctx_gp_u32(const uint8_t *at, bool big_endian)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? __builtin_bswap32(value) : value;
}

static inline uint64_t ctx_gp_u64(const uint8_t *at, bool big_endian)
{
	uint64_t value;

	memcpy(&value, at, sizeof(value));
	return big_endian != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) ? __builtin_bswap64(value) : value;
}

#endif
