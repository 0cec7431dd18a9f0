#include "collect/python_code.h"

#include "base/utf8.h"

#include <string.h>

#define TYPE 8u	       /* of PyObject: ob_type */
#define BYTES_SIZE 16u /* of PyBytesObject: ob_size */
#define BYTES_DATA 32u
#define TEXT_LENGTH 16u /* of PyASCIIObject */
#define TEXT_STATE 32u
#define TEXT_ASCII 48u	 /* where the characters of one in ASCII are */
#define TEXT_COMPACT 72u /* of others */
#define IS_COMPACT 0x20u
#define IS_ASCII 0x40u
#define KIND_SHIFT 2u
#define KIND_MASK 7u

#define TEXT_MAX 1024u	     /* characters of a name; longer ones are cut */
#define LINES_MAX (1u << 20) /* bytes of a table */

void ctx_python_code_deinit(struct ctx_python_code *code)
{
	ctx_buf_deinit(&code->texts);
	ctx_buf_deinit(&code->lines);
	*code = (struct ctx_python_code){0};
}

/* Appends a str, and a zero byte. */
static bool read_text(const struct ctx_python_memory *memory, uint64_t address, struct ctx_buf *out)
{
	uint8_t characters[4 * TEXT_MAX];
	uint64_t length;
	uint32_t state, width;

	if (!memory->read(memory->context, address + TEXT_LENGTH, &length, sizeof(length)) ||
	    !memory->read(memory->context, address + TEXT_STATE, &state, sizeof(state)))
		return false;
	width = state >> KIND_SHIFT & KIND_MASK;
	if ((state & IS_COMPACT) == 0 || (width != 1 && width != 2 && width != 4))
		return false;
	if (length > TEXT_MAX)
		length = TEXT_MAX;
	if (!memory->read(memory->context, address + ((state & IS_ASCII) != 0 ? TEXT_ASCII : TEXT_COMPACT),
			  characters, (size_t)length * width))
		return false;
	for (size_t i = 0; i < length; i++) {
		uint32_t code = 0;

		memcpy(&code, characters + i * width, width);
		ctx_utf8_put(out, code != 0 && code <= 0x10ffff ? code : '?');
	}
	ctx_buf_put_u8(out, 0);
	return !out->failed;
}

static bool read_lines(const struct ctx_python_memory *memory, uint64_t address, struct ctx_buf *out)
{
	uint64_t n;
	uint8_t *to;

	if (!memory->read(memory->context, address + BYTES_SIZE, &n, sizeof(n)) || n > LINES_MAX)
		return false;
	to = ctx_buf_reserve(out, (size_t)n + 1);
	if (to == NULL || !memory->read(memory->context, address + BYTES_DATA, to, (size_t)n))
		return false;
	out->n = (size_t)n;
	return true;
}

bool ctx_python_code_read(struct ctx_python_code *code, const struct ctx_python_memory *memory,
			  const struct ctx_python_layout *layout, uint64_t address, uint64_t type)
{
	struct {
		uint64_t file, name, qualified_name, lines;
	} names;
	uint64_t is_type;

	*code = (struct ctx_python_code){.instructions = address + layout->code_instructions};
	if (!memory->read(memory->context, address + TYPE, &is_type, sizeof(is_type)) || is_type != type ||
	    !memory->read(memory->context, address + layout->code_names, &names, sizeof(names)) ||
	    !memory->read(memory->context, address + layout->code_first_line, &code->first_line,
			  sizeof(code->first_line)))
		return false;
	code->check = names.file ^ names.name ^ names.qualified_name ^ names.lines;
	if (!read_text(memory, names.qualified_name, &code->texts))
		return false;
	code->file = code->texts.n;
	return read_text(memory, names.file, &code->texts) && read_lines(memory, names.lines, &code->lines);
}

/* ---- lines ---- */

/* Of a table of locations: entries of one byte 1kkkklll and what the kind k has; l + 1 code units of 2 bytes. */
enum {
	FIRST = 0x80,
	ONE_LINE = 10, /* up to 12: so many less lines further on, and two columns */
	NO_COLUMNS = 13,
	LONG = 14,
	NO_LOCATION = 15,
};

static uint32_t varint(const struct ctx_buf *table, size_t *at)
{
	uint32_t value = 0;

	for (unsigned shift = 0; *at < table->n; shift += 6) {
		uint8_t byte = table->bytes[(*at)++];

		if (shift < 32)
			value |= (uint32_t)(byte & 0x3f) << shift;
		if ((byte & 0x40) == 0)
			break;
	}
	return value;
}

static int32_t signed_varint(const struct ctx_buf *table, size_t *at)
{
	uint32_t value = varint(table, at);

	return (value & 1) != 0 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

/* How many lines further an entry is; its columns are passed over. */
static int32_t line_step(const struct ctx_buf *table, size_t *at, unsigned kind)
{
	int32_t step = 0;

	if (kind == NO_LOCATION)
		return 0;
	if (kind == NO_COLUMNS)
		return signed_varint(table, at);
	if (kind == LONG) {
		step = signed_varint(table, at);
		for (int i = 0; i < 3; i++)
			(void)varint(table, at);
		return step;
	}
	if (kind >= ONE_LINE) {
		*at += 2;
		return (int32_t)kind - ONE_LINE;
	}
	*at += 1;
	return 0;
}

uint32_t ctx_python_code_line(const struct ctx_python_code *code, uint64_t instruction)
{
	struct ctx_buf table = code->lines;
	uint64_t end = code->instructions;
	int64_t line = code->first_line;
	size_t at = 0;

	while (instruction >= code->instructions && at < table.n) {
		uint8_t first = table.bytes[at++];
		unsigned kind = first >> 3 & 15;

		if ((first & FIRST) == 0)
			break;
		line += line_step(&table, &at, kind);
		end += 2 * ((first & 7u) + 1);
		if (instruction < end)
			return kind != NO_LOCATION && line > 0 && line < INT32_MAX ? (uint32_t)line
										   : code->first_line;
	}
	return code->first_line;
}
