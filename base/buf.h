/*
 * Growable byte buffer, and encoders into it: LEB128 varints, zigzag,
 * little-endian fixed widths.
 *
 * Errors stick: after memory ran out the buffer ignores further appends and `failed` stays set, so
 * that an encoder can append freely and check once (ctx_buf_check) at the end. All zero is a valid
 * empty buffer.
 */
#ifndef CTX_BASE_BUF_H
#define CTX_BASE_BUF_H

#include "base/err.h"
#include "base/mem.h"

#include <stdbool.h>
#include <stdint.h>

/* A range of bytes; borrowed. */
struct ctx_bytes {
	const void *at;
	size_t n;
};

struct ctx_buf {
	uint8_t *bytes; /* owned; NULL when cap is 0 */
	size_t n;
	size_t cap;
	bool failed;
};

void ctx_buf_deinit(struct ctx_buf *buf);

/* Released at the end of the block: struct ctx_buf text CTX_AUTO_BUF = {0}; */
#define CTX_AUTO_BUF CTX_CLEANUP(ctx_buf_deinit)

/* Clears the contents and the failure, keeps the memory. */
void ctx_buf_clear(struct ctx_buf *buf);

/* CTX_E_NOMEM if any append since the last clear failed. */
CTX_MUST_CHECK enum ctx_status ctx_buf_check(const struct ctx_buf *buf, struct ctx_err *err);

/* Room for `n` more bytes at the returned place (then add to buf->n yourself). NULL: failed is
 * set. */
uint8_t *ctx_buf_reserve(struct ctx_buf *buf, size_t n);

void ctx_buf_put(struct ctx_buf *buf, const void *bytes, size_t n);
void ctx_buf_put_text(struct ctx_buf *buf, const char *text); /* without the zero byte */
void ctx_buf_printf(struct ctx_buf *buf, const char *fmt, ...) CTX_PRINTF(2, 3);
void ctx_buf_put_u8(struct ctx_buf *buf, uint8_t value);
void ctx_buf_put_u16(struct ctx_buf *buf, uint16_t value); /* little-endian, like the two below */
void ctx_buf_put_u32(struct ctx_buf *buf, uint32_t value);
void ctx_buf_put_u64(struct ctx_buf *buf, uint64_t value);
void ctx_buf_put_string(struct ctx_buf *buf, const char *text); /* varint length, then the bytes */

/* At most 10 bytes are written at `out`; returns how many. */
static inline size_t ctx_varint_encode(uint8_t *out, uint64_t value)
{
	size_t n = 0;

	while (value >= 0x80) {
		out[n++] = (uint8_t)(value | 0x80);
		value >>= 7;
	}
	out[n++] = (uint8_t)value;
	return n;
}

static inline uint64_t ctx_zigzag_encode(int64_t value)
{
	return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63);
}

static inline int64_t ctx_zigzag_decode(uint64_t value)
{
	return (int64_t)((value >> 1) ^ (0 - (value & 1)));
}

static inline void ctx_buf_put_varint(struct ctx_buf *buf, uint64_t value)
{
	uint8_t *out = buf->cap - buf->n >= 10 ? buf->bytes + buf->n : ctx_buf_reserve(buf, 10);

	if (out != NULL)
		buf->n += ctx_varint_encode(out, value);
}

static inline void ctx_buf_put_zigzag(struct ctx_buf *buf, int64_t value)
{
	ctx_buf_put_varint(buf, ctx_zigzag_encode(value));
}

#endif
