/*
 * Values of DWARF attributes, and of line table entries: one for each form (DWARF 5, section 7.5.6, and what GNU tools add).
 *
 * Everything comes from a file that nobody trusts. Little-endian only, as all machines that we record on.
 */
#ifndef CTX_COLLECT_DEBUG_FORM_H
#define CTX_COLLECT_DEBUG_FORM_H

#include "base/cursor.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_debug_bytes { /* borrowed; all zero: there are none */
	const uint8_t *at;
	size_t n;
};

/* Sections of DWARF, decompressed. Those that are missing cost names, nothing else. */
struct ctx_debug_sections {
	struct ctx_debug_bytes line, line_str, str, info, abbrev;
};

struct ctx_debug_shape { /* of the unit that a value is in */
	uint16_t version;
	uint8_t offset_bytes; /* 4 or 8: 32-bit or 64-bit DWARF */
	uint8_t address_bytes;
};

struct ctx_debug_value {
	uint64_t number; /* 0 for values that are none */
	struct ctx_debug_bytes
		text; /* from the string's first byte to the end of its section; at NULL: no string, or one
					that is not at hand */
};

/* Reads a length that may announce 64-bit DWARF; sets offset_bytes. Sticks in the cursor, like all below. */
uint64_t ctx_debug_get_length(struct ctx_cursor *cursor, struct ctx_debug_shape *shape);
uint64_t ctx_debug_get_offset(struct ctx_cursor *cursor, const struct ctx_debug_shape *shape);

/* A LEB128 number of any length, signed or not, that nobody needs. */
void ctx_debug_skip_leb(struct ctx_cursor *cursor);

/* A zero-terminated string; the cursor fails where the zero is missing. */
struct ctx_debug_bytes ctx_debug_get_string(struct ctx_cursor *cursor);

/* Reads a value of a form; an unknown form fails the cursor, for nobody knows its length. Some forms take no bytes. */
struct ctx_debug_value ctx_debug_get_value(struct ctx_cursor *cursor, uint64_t form,
					   const struct ctx_debug_shape *shape,
					   const struct ctx_debug_sections *sections);

#endif
