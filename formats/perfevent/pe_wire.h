/*
 * Wire: a cursor over bytes written by perf or the kernel, in the byte order of the recorded
 * machine.
 *
 * Errors are sticky, as in base/cursor.h: a read past the end returns 0 and sets `failed`. Read a
 * whole record, then check once. Reads may be unaligned.
 */
#ifndef CTX_FORMATS_PERFEVENT_PE_WIRE_H
#define CTX_FORMATS_PERFEVENT_PE_WIRE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

struct ctx_pe_wire {
	const uint8_t *at; /* next byte; borrowed */
	const uint8_t *end;
	bool swap; /* written in the other byte order */
	bool failed;
};

static inline struct ctx_pe_wire ctx_pe_wire_make(const void *bytes, size_t n, bool swap)
{
	const uint8_t *at = bytes;

	return (struct ctx_pe_wire){.at = at, .end = n != 0 ? at + n : at, .swap = swap};
}

static inline size_t ctx_pe_wire_left(const struct ctx_pe_wire *wire)
{
	return (size_t)(wire->end - wire->at);
}

/* The next `n` bytes, borrowed; NULL (and failed) when fewer are left. */
static inline const uint8_t *ctx_pe_wire_bytes(struct ctx_pe_wire *wire, size_t n)
{
	const uint8_t *at = wire->at;

	if (wire->failed || ctx_pe_wire_left(wire) < n) {
		wire->failed = true;
		return NULL;
	}
	wire->at += n;
	return at;
}

static inline uint16_t ctx_pe_wire_u16(struct ctx_pe_wire *wire)
{
	const uint8_t *bytes = ctx_pe_wire_bytes(wire, 2);
	uint16_t value;

	if (bytes == NULL)
		return 0;
	memcpy(&value, bytes, sizeof(value));
	return wire->swap ? __builtin_bswap16(value) : value;
}

static inline uint32_t ctx_pe_wire_u32(struct ctx_pe_wire *wire)
{
	const uint8_t *bytes = ctx_pe_wire_bytes(wire, 4);
	uint32_t value;

	if (bytes == NULL)
		return 0;
	memcpy(&value, bytes, sizeof(value));
	return wire->swap ? __builtin_bswap32(value) : value;
}

static inline uint64_t ctx_pe_wire_u64(struct ctx_pe_wire *wire)
{
	const uint8_t *bytes = ctx_pe_wire_bytes(wire, 8);
	uint64_t value;

	if (bytes == NULL)
		return 0;
	memcpy(&value, bytes, sizeof(value));
	return wire->swap ? __builtin_bswap64(value) : value;
}

/*
 * Flag `bit` of an 8-byte C bit field. The first member is the lowest bit of the first byte on a
 * little-endian machine, the highest bit of the first byte on a big-endian one.
 */
static inline bool ctx_pe_wire_flag(const uint8_t bytes[8], unsigned bit, bool swap)
{
	bool big_endian = swap != (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__);
	unsigned in_byte = big_endian ? 7 - bit % 8 : bit % 8;

	return ((unsigned)bytes[bit / 8] >> in_byte & 1u) != 0;
}

/*
 * A zero-terminated string in the next `n` bytes; consumes all `n`. NULL (and failed) when they
 * contain no zero byte or fewer are left. Borrowed.
 */
static inline const char *ctx_pe_wire_text(struct ctx_pe_wire *wire, size_t n)
{
	const uint8_t *bytes = ctx_pe_wire_bytes(wire, n);

	if (bytes == NULL || memchr(bytes, 0, n) == NULL) {
		wire->failed = true;
		return NULL;
	}
	return (const char *)bytes;
}

/* A string up to its zero byte, which is consumed. NULL (and failed): there is none. Borrowed. */
static inline const char *ctx_pe_wire_text0(struct ctx_pe_wire *wire)
{
	const uint8_t *end = wire->failed || ctx_pe_wire_left(wire) == 0
				     ? NULL
				     : (const uint8_t *)memchr(wire->at, 0, ctx_pe_wire_left(wire));

	if (end == NULL) {
		wire->failed = true;
		return NULL;
	}
	return (const char *)ctx_pe_wire_bytes(wire, (size_t)(end - wire->at) + 1);
}

#endif
