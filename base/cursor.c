#include "base/cursor.h"

uint64_t ctx_cursor_get_long_varint(struct ctx_cursor *cursor)
{
	const uint8_t *at = cursor->at;
	uint64_t value = 0;

	if (cursor->failed)
		return 0;
	for (unsigned shift = 0; shift < 64 && at < cursor->end; shift += 7) {
		uint8_t byte = *at++;

		if (shift == 63 && byte > 1)
			break;
		value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			cursor->at = at;
			return value;
		}
	}
	cursor->failed = true;
	return 0;
}

const uint8_t *ctx_cursor_get_bytes(struct ctx_cursor *cursor, size_t n)
{
	const uint8_t *at = cursor->at;

	if (cursor->failed || ctx_cursor_left(cursor) < n) {
		cursor->failed = true;
		return NULL;
	}
	cursor->at += n;
	return at;
}

static uint64_t get_little_endian(struct ctx_cursor *cursor, size_t n)
{
	const uint8_t *bytes = ctx_cursor_get_bytes(cursor, n);
	uint64_t value = 0;

	if (bytes == NULL)
		return 0;
	for (size_t i = 0; i < n; i++)
		value |= (uint64_t)bytes[i] << (8 * i);
	return value;
}

uint8_t ctx_cursor_get_u8(struct ctx_cursor *cursor)
{
	return (uint8_t)get_little_endian(cursor, 1);
}

uint16_t ctx_cursor_get_u16(struct ctx_cursor *cursor)
{
	return (uint16_t)get_little_endian(cursor, 2);
}

uint32_t ctx_cursor_get_u32(struct ctx_cursor *cursor)
{
	return (uint32_t)get_little_endian(cursor, 4);
}

uint64_t ctx_cursor_get_u64(struct ctx_cursor *cursor)
{
	return get_little_endian(cursor, 8);
}

uint32_t ctx_cursor_get_varint32(struct ctx_cursor *cursor)
{
	uint64_t value = ctx_cursor_get_varint(cursor);

	if (value > UINT32_MAX) {
		cursor->failed = true;
		return 0;
	}
	return (uint32_t)value;
}
