/*
 * Byte cursor: reads what base/buf.h writes, from untrusted bytes.
 *
 * Errors stick: a read past the end or an overlong varint returns 0, sets `failed` and moves
 * nothing, and so does every read after it. Read a whole record, then check once.
 */
#ifndef CTX_BASE_CURSOR_H
#define CTX_BASE_CURSOR_H

#include "base/buf.h"

struct ctx_cursor {
	const uint8_t *at; /* next byte; borrowed */
	const uint8_t *end;
	bool failed;
};

static inline struct ctx_cursor ctx_cursor_make(const void *bytes, size_t n)
{
	const uint8_t *at = bytes;

	return (struct ctx_cursor){.at = at, .end = n != 0 ? at + n : at, .failed = false};
}

static inline size_t ctx_cursor_left(const struct ctx_cursor *cursor)
{
	return (size_t)(cursor->end - cursor->at);
}

/* The slow path of ctx_cursor_get_varint. */
uint64_t ctx_cursor_get_long_varint(struct ctx_cursor *cursor);

static inline uint64_t ctx_cursor_get_varint(struct ctx_cursor *cursor)
{
	if (cursor->at < cursor->end && *cursor->at < 0x80 && !cursor->failed)
		return *cursor->at++;
	return ctx_cursor_get_long_varint(cursor);
}

static inline int64_t ctx_cursor_get_zigzag(struct ctx_cursor *cursor)
{
	return ctx_zigzag_decode(ctx_cursor_get_varint(cursor));
}

uint8_t ctx_cursor_get_u8(struct ctx_cursor *cursor);
uint16_t ctx_cursor_get_u16(struct ctx_cursor *cursor); /* little-endian, like the two below */
uint32_t ctx_cursor_get_u32(struct ctx_cursor *cursor);
uint64_t ctx_cursor_get_u64(struct ctx_cursor *cursor);

/* The next `n` bytes, borrowed; NULL (and failed) when fewer are left. */
const uint8_t *ctx_cursor_get_bytes(struct ctx_cursor *cursor, size_t n);

/* A varint that must fit 32 bits; otherwise failed. */
uint32_t ctx_cursor_get_varint32(struct ctx_cursor *cursor);

#endif
