#include "collect/debug_units.h"

#include "base/mem.h"

#define AT_STMT_LIST 0x10u
#define AT_COMP_DIR 0x1bu
#define FORM_IMPLICIT_CONST 0x21u

/* Bytes of .debug_abbrev that are looked at in all: a unit's first entry has the first abbreviation nearly always. */
#define ABBREV_BUDGET ((size_t)64 << 20)
#define ATTRIBUTE_COST 2u /* what it takes at least */

enum unit_type { UNIT_COMPILE = 1, UNIT_PARTIAL = 3, UNIT_SKELETON = 4, UNIT_SPLIT_COMPILE = 5 };

struct reading {
	const struct ctx_debug_sections *sections;
	size_t budget;
};

void ctx_debug_units_deinit(struct ctx_debug_units *units)
{
	free(units->units);
	*units = (struct ctx_debug_units){0};
}

/* Puts the cursor at the attributes of an abbreviation: of (attribute, form) pairs up to (0, 0). */
static bool find_abbreviation(struct reading *reading, uint64_t offset, uint64_t code, struct ctx_cursor *ret)
{
	const struct ctx_debug_bytes *section = &reading->sections->abbrev;
	struct ctx_cursor cursor;

	if (offset >= section->n)
		return false;
	cursor = ctx_cursor_make(section->at + offset, section->n - (size_t)offset);
	while (!cursor.failed) {
		const uint8_t *begin = cursor.at;
		uint64_t found = ctx_cursor_get_varint(&cursor), name, form;

		if (found == 0)
			return false;
		ctx_debug_skip_leb(&cursor); /* tag */
		(void)ctx_cursor_get_u8(&cursor);
		if (found == code) {
			*ret = cursor;
			return !cursor.failed;
		}
		do {
			name = ctx_cursor_get_varint(&cursor);
			form = ctx_cursor_get_varint(&cursor);
			if (form == FORM_IMPLICIT_CONST)
				ctx_debug_skip_leb(&cursor);
		} while ((name != 0 || form != 0) && !cursor.failed);
		if ((size_t)(cursor.at - begin) > reading->budget)
			return false;
		reading->budget -= (size_t)(cursor.at - begin);
	}
	return false;
}

/* The unit's first entry: `cursor` stands at it and ends with the unit. */
static bool read_entry(struct reading *reading, struct ctx_cursor *cursor,
		       const struct ctx_debug_shape *shape, uint64_t abbreviations,
		       struct ctx_debug_unit *ret)
{
	uint64_t code = ctx_cursor_get_varint(cursor);
	bool has_line = false;
	struct ctx_cursor attributes;

	if (code == 0 || !find_abbreviation(reading, abbreviations, code, &attributes))
		return false;
	*ret = (struct ctx_debug_unit){0};
	for (;;) {
		uint64_t name = ctx_cursor_get_varint(&attributes);
		uint64_t form = ctx_cursor_get_varint(&attributes);
		struct ctx_debug_value value;

		if ((name == 0 && form == 0) || attributes.failed || reading->budget < ATTRIBUTE_COST)
			break;
		reading->budget -= ATTRIBUTE_COST;
		if (form == FORM_IMPLICIT_CONST)
			ctx_debug_skip_leb(&attributes);
		value = ctx_debug_get_value(cursor, form, shape, reading->sections);
		if (cursor->failed)
			break;
		if (name == AT_STMT_LIST) {
			ret->line = value.number;
			has_line = true;
		} else if (name == AT_COMP_DIR) {
			ret->path = value.text;
		}
	}
	return has_line && ret->path.at != NULL;
}

/* Reads a unit's header and first entry; `cursor` ends with the unit. */
static bool read_unit(struct reading *reading, struct ctx_cursor *cursor, struct ctx_debug_shape *shape,
		      struct ctx_debug_unit *ret)
{
	uint8_t type = UNIT_COMPILE;
	uint64_t abbreviations;

	shape->version = ctx_cursor_get_u16(cursor);
	if (shape->version < 2 || shape->version > 5)
		return false;
	if (shape->version == 5) {
		type = ctx_cursor_get_u8(cursor);
		shape->address_bytes = ctx_cursor_get_u8(cursor);
		abbreviations = ctx_debug_get_offset(cursor, shape);
	} else {
		abbreviations = ctx_debug_get_offset(cursor, shape);
		shape->address_bytes = ctx_cursor_get_u8(cursor);
	}
	if (shape->address_bytes != 4 && shape->address_bytes != 8)
		return false;
	if (type == UNIT_SKELETON || type == UNIT_SPLIT_COMPILE)
		(void)ctx_cursor_get_u64(cursor); /* the number that joins the two */
	else if (type != UNIT_COMPILE && type != UNIT_PARTIAL)
		return false;
	return !cursor->failed && read_entry(reading, cursor, shape, abbreviations, ret);
}

static int by_line(const void *a, const void *b)
{
	const struct ctx_debug_unit *left = a, *right = b;

	return (left->line > right->line) - (left->line < right->line);
}

enum ctx_status ctx_debug_units_read(struct ctx_debug_units *units, const struct ctx_debug_sections *sections,
				     struct ctx_err *err)
{
	struct ctx_cursor all = ctx_cursor_make(sections->info.at, sections->info.n);
	struct reading reading = {sections, ABBREV_BUDGET};

	while (ctx_cursor_left(&all) != 0) {
		struct ctx_debug_shape shape = {0};
		struct ctx_debug_unit unit;
		struct ctx_cursor one;
		uint64_t length = ctx_debug_get_length(&all, &shape);

		if (all.failed || length > ctx_cursor_left(&all))
			break;
		one = ctx_cursor_make(all.at, (size_t)length);
		(void)ctx_cursor_get_bytes(&all, (size_t)length);
		if (!read_unit(&reading, &one, &shape, &unit))
			continue;
		if (ctx_grow(&units->units, &units->cap, units->n + 1, err) != CTX_OK)
			return CTX_E_NOMEM;
		units->units[units->n++] = unit;
	}
	if (units->n != 0)
		qsort(units->units, units->n, sizeof(*units->units), by_line);
	return CTX_OK;
}

struct ctx_debug_bytes ctx_debug_units_find(const struct ctx_debug_units *units, uint64_t line)
{
	size_t low = 0, high = units->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (units->units[middle].line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low < units->n && units->units[low].line == line ? units->units[low].path
								: (struct ctx_debug_bytes){0};
}
