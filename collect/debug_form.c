#include "collect/debug_form.h"

#include <string.h>

/* Constants of DWARF 5 that <dwarf.h> of elfutils has too; the recorder does not depend on it. */
enum form {
	FORM_ADDR = 0x01,
	FORM_BLOCK2 = 0x03,
	FORM_BLOCK4 = 0x04,
	FORM_DATA2 = 0x05,
	FORM_DATA4 = 0x06,
	FORM_DATA8 = 0x07,
	FORM_STRING = 0x08,
	FORM_BLOCK = 0x09,
	FORM_BLOCK1 = 0x0a,
	FORM_DATA1 = 0x0b,
	FORM_FLAG = 0x0c,
	FORM_SDATA = 0x0d,
	FORM_STRP = 0x0e,
	FORM_UDATA = 0x0f,
	FORM_REF_ADDR = 0x10,
	FORM_REF1 = 0x11,
	FORM_REF2 = 0x12,
	FORM_REF4 = 0x13,
	FORM_REF8 = 0x14,
	FORM_REF_UDATA = 0x15,
	FORM_INDIRECT = 0x16,
	FORM_SEC_OFFSET = 0x17,
	FORM_EXPRLOC = 0x18,
	FORM_FLAG_PRESENT = 0x19,
	FORM_STRX = 0x1a,
	FORM_ADDRX = 0x1b,
	FORM_REF_SUP4 = 0x1c,
	FORM_STRP_SUP = 0x1d,
	FORM_DATA16 = 0x1e,
	FORM_LINE_STRP = 0x1f,
	FORM_REF_SIG8 = 0x20,
	FORM_IMPLICIT_CONST = 0x21,
	FORM_LOCLISTX = 0x22,
	FORM_RNGLISTX = 0x23,
	FORM_REF_SUP8 = 0x24,
	FORM_STRX1 = 0x25,
	FORM_STRX2 = 0x26,
	FORM_STRX3 = 0x27,
	FORM_STRX4 = 0x28,
	FORM_ADDRX1 = 0x29,
	FORM_ADDRX2 = 0x2a,
	FORM_ADDRX3 = 0x2b,
	FORM_ADDRX4 = 0x2c,
	FORM_GNU_ADDR_INDEX = 0x1f01,
	FORM_GNU_STR_INDEX = 0x1f02,
	FORM_GNU_REF_ALT = 0x1f20,
	FORM_GNU_STRP_ALT = 0x1f21,
};

uint64_t ctx_debug_get_length(struct ctx_cursor *cursor, struct ctx_debug_shape *shape)
{
	uint32_t length = ctx_cursor_get_u32(cursor);

	shape->offset_bytes = length == UINT32_MAX ? 8 : 4;
	if (length == UINT32_MAX)
		return ctx_cursor_get_u64(cursor);
	if (length >= 0xfffffff0u) /* reserved */
		cursor->failed = true;
	return length;
}

uint64_t ctx_debug_get_offset(struct ctx_cursor *cursor, const struct ctx_debug_shape *shape)
{
	return shape->offset_bytes == 8 ? ctx_cursor_get_u64(cursor) : ctx_cursor_get_u32(cursor);
}

void ctx_debug_skip_leb(struct ctx_cursor *cursor)
{
	while (ctx_cursor_get_u8(cursor) >= 0x80)
		;
}

struct ctx_debug_bytes ctx_debug_get_string(struct ctx_cursor *cursor)
{
	const uint8_t *zero = cursor->failed || cursor->at == cursor->end
				      ? NULL
				      : memchr(cursor->at, 0, ctx_cursor_left(cursor));
	struct ctx_debug_bytes text = {0};

	if (zero == NULL) {
		cursor->failed = true;
		return text;
	}
	text.n = (size_t)(zero - cursor->at) + 1;
	text.at = ctx_cursor_get_bytes(cursor, text.n);
	return text;
}

/* A string in another section; none when the offset is not in it. */
static struct ctx_debug_value text_at(const struct ctx_debug_bytes *section, uint64_t offset)
{
	struct ctx_debug_value value = {.number = offset};

	if (offset < section->n)
		value.text = (struct ctx_debug_bytes){section->at + offset, section->n - (size_t)offset};
	return value;
}

static void skip(struct ctx_cursor *cursor, uint64_t n)
{
	if (n > ctx_cursor_left(cursor))
		cursor->failed = true;
	else
		(void)ctx_cursor_get_bytes(cursor, (size_t)n);
}

/* Bytes of the forms that have a fixed length and no text; 0: another one. */
static unsigned fixed_bytes(uint64_t form, const struct ctx_debug_shape *shape)
{
	switch (form) {
	case FORM_DATA1:
	case FORM_FLAG:
	case FORM_REF1:
	case FORM_STRX1:
	case FORM_ADDRX1:
		return 1;
	case FORM_DATA2:
	case FORM_REF2:
	case FORM_STRX2:
	case FORM_ADDRX2:
		return 2;
	case FORM_STRX3:
	case FORM_ADDRX3:
		return 3;
	case FORM_DATA4:
	case FORM_REF4:
	case FORM_REF_SUP4:
	case FORM_STRX4:
	case FORM_ADDRX4:
		return 4;
	case FORM_DATA8:
	case FORM_REF8:
	case FORM_REF_SIG8:
	case FORM_REF_SUP8:
		return 8;
	case FORM_DATA16:
		return 16;
	case FORM_ADDR:
		return shape->address_bytes;
	case FORM_REF_ADDR:
		return shape->version <= 2 ? shape->address_bytes : shape->offset_bytes;
	case FORM_SEC_OFFSET:
	case FORM_STRP_SUP:
	case FORM_GNU_REF_ALT:
	case FORM_GNU_STRP_ALT:
		return shape->offset_bytes;
	default:
		return 0;
	}
}

static uint64_t get_number(struct ctx_cursor *cursor, unsigned n)
{
	const uint8_t *bytes = ctx_cursor_get_bytes(cursor, n);
	uint64_t number = 0;

	for (unsigned i = 0; bytes != NULL && i < n && i < 8; i++)
		number |= (uint64_t)bytes[i] << (8 * i);
	return number;
}

struct ctx_debug_value ctx_debug_get_value(struct ctx_cursor *cursor, uint64_t form,
					   const struct ctx_debug_shape *shape,
					   const struct ctx_debug_sections *sections)
{
	struct ctx_debug_value value = {0};
	unsigned n;

	if (form == FORM_INDIRECT) {
		form = ctx_cursor_get_varint(cursor);
		if (form == FORM_INDIRECT) /* one in another says nothing */
			cursor->failed = true;
	}
	n = fixed_bytes(form, shape);
	if (n != 0) {
		value.number = get_number(cursor, n);
		return value;
	}
	switch (form) {
	case FORM_STRING:
		value.text = ctx_debug_get_string(cursor);
		return value;
	case FORM_STRP:
		return text_at(&sections->str, ctx_debug_get_offset(cursor, shape));
	case FORM_LINE_STRP:
		return text_at(&sections->line_str, ctx_debug_get_offset(cursor, shape));
	case FORM_UDATA:
	case FORM_REF_UDATA:
	case FORM_STRX:
	case FORM_ADDRX:
	case FORM_LOCLISTX:
	case FORM_RNGLISTX:
	case FORM_GNU_ADDR_INDEX:
	case FORM_GNU_STR_INDEX:
		value.number = ctx_cursor_get_varint(cursor);
		return value;
	case FORM_SDATA:
		ctx_debug_skip_leb(cursor);
		return value;
	case FORM_BLOCK1:
		skip(cursor, ctx_cursor_get_u8(cursor));
		return value;
	case FORM_BLOCK2:
		skip(cursor, ctx_cursor_get_u16(cursor));
		return value;
	case FORM_BLOCK4:
		skip(cursor, ctx_cursor_get_u32(cursor));
		return value;
	case FORM_BLOCK:
	case FORM_EXPRLOC:
		skip(cursor, ctx_cursor_get_varint(cursor));
		return value;
	case FORM_FLAG_PRESENT:
	case FORM_IMPLICIT_CONST: /* its value is in the abbreviation */
		return value;
	default:
		cursor->failed = true;
		return value;
	}
}
