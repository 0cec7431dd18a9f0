#include "formats/jfr/jfr_wire.h"

#include "base/utf8.h"

#define LAST 8u /* the ninth byte has no bit for more */

static uint64_t get_long(struct ctx_cursor *cursor)
{
	uint64_t value = 0;

	for (unsigned i = 0; i <= LAST; i++) {
		uint8_t byte = ctx_cursor_get_u8(cursor);

		if (i == LAST || byte < 0x80)
			return value | (uint64_t)byte << (7 * i);
		value |= (uint64_t)(byte & 0x7f) << (7 * i);
	}
	return value;
}

uint64_t ctx_jfr_get_fixed(struct ctx_cursor *cursor, unsigned width)
{
	const uint8_t *bytes = ctx_cursor_get_bytes(cursor, width);
	uint64_t value = 0;

	for (unsigned i = 0; bytes != NULL && i < width; i++)
		value = value << 8 | bytes[i];
	return value;
}

uint64_t ctx_jfr_get(struct ctx_jfr_bytes *bytes, unsigned width)
{
	struct ctx_cursor *cursor = &bytes->cursor;
	uint64_t value;

	if (!bytes->compressed)
		return ctx_jfr_get_fixed(cursor, width);
	if (cursor->at < cursor->end && *cursor->at < 0x80 && !cursor->failed)
		return *cursor->at++;
	value = get_long(cursor);
	return cursor->failed ? 0 : value;
}

static void skip_units(struct ctx_jfr_bytes *bytes, uint32_t n)
{
	for (uint32_t i = 0; i < n && !bytes->cursor.failed; i++)
		(void)ctx_jfr_get(bytes, 2);
}

void ctx_jfr_skip_text(struct ctx_jfr_bytes *bytes)
{
	switch (ctx_cursor_get_u8(&bytes->cursor)) {
	case CTX_JFR_TEXT_NULL:
	case CTX_JFR_TEXT_EMPTY:
		break;
	case CTX_JFR_TEXT_CONSTANT:
		(void)ctx_jfr_get(bytes, 8);
		break;
	case CTX_JFR_TEXT_UTF8:
	case CTX_JFR_TEXT_LATIN1:
		(void)ctx_cursor_get_bytes(&bytes->cursor, ctx_jfr_get_count(bytes));
		break;
	case CTX_JFR_TEXT_UTF16:
		skip_units(bytes, ctx_jfr_get_count(bytes));
		break;
	default:
		bytes->cursor.failed = true;
	}
}

#define REPLACEMENT 0xfffdu

static bool is_surrogate(uint32_t unit, uint32_t first)
{
	return unit >= first && unit < first + 0x400;
}

static void put_units(struct ctx_jfr_bytes *bytes, struct ctx_buf *out, uint32_t n)
{
	uint32_t high = 0;

	for (uint32_t i = 0; i < n && !bytes->cursor.failed; i++) {
		uint32_t unit = (uint32_t)ctx_jfr_get(bytes, 2) & 0xffff;
		bool is_low = is_surrogate(unit, 0xdc00);

		if (high != 0 && is_low) {
			ctx_utf8_put(out, 0x10000 + ((high - 0xd800) << 10) + (unit - 0xdc00));
			high = 0;
			continue;
		}
		if (high != 0)
			ctx_utf8_put(out, REPLACEMENT);
		high = is_surrogate(unit, 0xd800) ? unit : 0;
		if (high == 0)
			ctx_utf8_put(out, is_low ? REPLACEMENT : unit);
	}
	if (high != 0)
		ctx_utf8_put(out, REPLACEMENT);
}

static void put_latin1(struct ctx_jfr_bytes *bytes, struct ctx_buf *out)
{
	uint32_t n = ctx_jfr_get_count(bytes);
	const uint8_t *at = ctx_cursor_get_bytes(&bytes->cursor, n);

	for (uint32_t i = 0; at != NULL && i < n; i++)
		ctx_utf8_put(out, at[i]);
}

bool ctx_jfr_get_text(struct ctx_jfr_bytes *bytes, struct ctx_buf *out, uint64_t *ret_constant)
{
	const uint8_t *at;
	uint32_t n;

	switch (ctx_cursor_get_u8(&bytes->cursor)) {
	case CTX_JFR_TEXT_CONSTANT:
		*ret_constant = ctx_jfr_get(bytes, 8);
		return !bytes->cursor.failed;
	case CTX_JFR_TEXT_UTF8:
		n = ctx_jfr_get_count(bytes);
		at = ctx_cursor_get_bytes(&bytes->cursor, n);
		if (at != NULL)
			ctx_buf_put(out, at, n);
		break;
	case CTX_JFR_TEXT_UTF16:
		put_units(bytes, out, ctx_jfr_get_count(bytes));
		break;
	case CTX_JFR_TEXT_LATIN1:
		put_latin1(bytes, out);
		break;
	case CTX_JFR_TEXT_NULL:
	case CTX_JFR_TEXT_EMPTY:
		break;
	default:
		bytes->cursor.failed = true;
	}
	return false;
}
