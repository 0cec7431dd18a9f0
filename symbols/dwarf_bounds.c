#include "symbols/dwarf_bounds.h"

#include "base/mem.h"
#include "elf/elf_bytes.h"

#include <dwarf.h>
#include <gelf.h>
#include <string.h>

/* Minimum bytes of the file per range and per row, if no two units share a table. */
#define BYTES_PER_RANGE 2
#define BYTES_PER_ROW 1
#define BOUND_EXTRA 1024
#define UNIT_ROWS_MAX 4000000u
#define UNIT_PATHS_MAX ((uint64_t)512 << 20)
#define FILE_BYTES_MIN 5 /* of the header, for a file */

/*
 * Memory that libdw uses, roughly: per row, while reading and afterwards; per byte before the rows,
 * where the files are.
 */
#define LIBDW_ROW_BYTES 112
#define LIBDW_FILE_BYTES 8

/*
 * Compilers write a table for each unit; tools that merge units share some. A table has a few
 * hundred entries, each 64 bytes in libdw.
 */
#define BYTES_PER_ABBREVIATION 4
#define ABBREVIATIONS_EXTRA 1000000u
#define ABBREVIATIONS_MAX 32000000u

struct bytes {
	struct ctx_cursor in;
	bool big_endian;
};

static struct bytes make_bytes(const uint8_t *at, size_t n, bool big_endian)
{
	return (struct bytes){ctx_cursor_make(at, n), big_endian};
}

static uint64_t take_fixed(struct bytes *bytes, size_t n)
{
	return ctx_elf_get_uint(&bytes->in, n, bytes->big_endian);
}

/* Skips to the end if fewer are left. */
static void skip(struct ctx_cursor *in, uint64_t n)
{
	in->at += n < ctx_cursor_left(in) ? (size_t)n : ctx_cursor_left(in);
}

static bool has_more(const struct ctx_cursor *in)
{
	return in->at < in->end && !in->failed;
}

/*
 * Whether the cursor failed at a number of more than 64 bits: libdw continues after such a number.
 */
static bool is_overlong(const struct ctx_cursor *in)
{
	return in->failed && ctx_cursor_left(in) >= CTX_ELF_LEB_BYTES_MAX;
}

static bool is_called(const char *have, const char *name)
{
	size_t n = strlen(name);

	/* libdw has decompressed it in place */
	if (strncmp(have, ".zdebug_", 8) == 0)
		have += 2;
	else if (have[0] == '.')
		have++;
	return strncmp(have, name, n) == 0 && (have[n] == '\0' || strcmp(have + n, ".dwo") == 0);
}

/* The next non-empty section of a name after `*at` (NULL: from the first); NULL: none. */
static Elf_Data *next_section(Elf *elf, size_t names, const char *name, Elf_Scn **at)
{
	while ((*at = elf_nextscn(elf, *at)) != NULL) {
		GElf_Shdr header;
		const char *have;
		Elf_Data *data;

		if (gelf_getshdr(*at, &header) == NULL || header.sh_type == SHT_NOBITS)
			continue;
		have = elf_strptr(elf, names, header.sh_name);
		if (have == NULL || !is_called(have, name))
			continue;
		data = elf_getdata(*at, NULL);
		if (data != NULL && data->d_buf != NULL)
			return data;
	}
	return NULL;
}

static struct bytes find_section(struct ctx_dwarf_section *section, Dwarf *dwarf, const char *name)
{
	Elf *elf = dwarf_getelf(dwarf);
	Elf_Scn *at = NULL;
	Elf_Data *data;
	size_t names;
	bool big_endian = elf_getident(elf, NULL)[EI_DATA] == ELFDATA2MSB;

	if (section->elf == elf)
		return make_bytes(section->bytes, section->n, big_endian);
	*section = (struct ctx_dwarf_section){.elf = elf, .bytes = (const uint8_t *)""};
	if (elf_getshdrstrndx(elf, &names) != 0)
		return make_bytes(section->bytes, 0, big_endian);
	while ((data = next_section(elf, names, name, &at)) != NULL) {
		section->bytes = data->d_buf;
		section->n = data->d_size;
	}
	return make_bytes(section->bytes, section->n, big_endian);
}

void ctx_dwarf_bounds_init(struct ctx_dwarf_bounds *bounds, uint64_t debug_bytes)
{
	*bounds = (struct ctx_dwarf_bounds){
		.ranges_left = debug_bytes / BYTES_PER_RANGE + BOUND_EXTRA,
		.rows_left = debug_bytes / BYTES_PER_ROW + BOUND_EXTRA,
	};
}

void ctx_dwarf_bounds_forget(struct ctx_dwarf_bounds *bounds)
{
	bounds->ranges = bounds->rnglists = bounds->lines = (struct ctx_dwarf_section){0};
}

/* --- ranges --- */

/* Version 5: each entry begins with its kind. */
static bool take_rnglist(uint64_t *left, struct ctx_cursor in, size_t address_bytes)
{
	for (; has_more(&in) && *left > 0; --*left) {
		switch (*in.at++) {
		case DW_RLE_end_of_list:
			return true;
		case DW_RLE_base_addressx:
			ctx_elf_skip_leb(&in);
			break;
		case DW_RLE_startx_endx:
		case DW_RLE_startx_length:
		case DW_RLE_offset_pair:
			ctx_elf_skip_leb(&in);
			ctx_elf_skip_leb(&in);
			break;
		case DW_RLE_base_address:
			skip(&in, address_bytes);
			break;
		case DW_RLE_start_end:
			skip(&in, 2 * address_bytes);
			break;
		case DW_RLE_start_length:
			skip(&in, address_bytes);
			ctx_elf_skip_leb(&in);
			break;
		default:
			return true; /* libdw stops here, too */
		}
	}
	return *left > 0 && !is_overlong(&in);
}

/* Until version 4: pairs of addresses, up to two zeros. */
static bool take_pairs(uint64_t *left, struct bytes bytes, size_t address_bytes)
{
	for (; has_more(&bytes.in) && *left > 0; --*left) {
		uint64_t begin = take_fixed(&bytes, address_bytes);
		uint64_t end = take_fixed(&bytes, address_bytes);

		if (begin == 0 && end == 0)
			return true;
	}
	return *left > 0;
}

static uint64_t offset_attribute(Dwarf_Die *die, unsigned name, uint64_t otherwise)
{
	Dwarf_Attribute attribute;
	Dwarf_Word value;

	return dwarf_formudata(dwarf_attr(die, name, &attribute), &value) == 0 ? value : otherwise;
}

/* The offset of the list with an index. */
static uint64_t indexed(struct bytes bytes, Dwarf_Die *unit, uint64_t index, size_t offset_bytes)
{
	/* A split unit does not name the start of its only table: it follows the header. */
	uint64_t base = offset_attribute(unit, DW_AT_rnglists_base, offset_bytes == 8 ? 20 : 12);
	uint64_t n = ctx_cursor_left(&bytes.in);

	if (base > n || index > (n - base) / offset_bytes)
		return n;
	skip(&bytes.in, base + index * offset_bytes);
	return base + take_fixed(&bytes, offset_bytes);
}

bool ctx_dwarf_bounds_take_ranges(struct ctx_dwarf_bounds *bounds, Dwarf_Die *die, Dwarf_Die *skeleton)
{
	uint8_t address_bytes = 8, offset_bytes = 4;
	Dwarf_Attribute attribute;
	Dwarf_Half version = 0;
	Dwarf_Word offset;
	struct bytes bytes;
	Dwarf_Die unit;

	if (bounds->ranges_left == 0)
		return false;
	if (dwarf_attr(die, DW_AT_ranges, &attribute) == NULL) {
		bounds->ranges_left--;
		return true;
	}
	if (dwarf_cu_info(die->cu, &version, NULL, &unit, NULL, NULL, &address_bytes, &offset_bytes) != 0 ||
	    dwarf_formudata(&attribute, &offset) != 0)
		return false;
	if (version >= 5) {
		bytes = find_section(&bounds->rnglists, dwarf_cu_getdwarf(die->cu), "debug_rnglists");
		if (attribute.form == DW_FORM_rnglistx)
			offset = indexed(bytes, &unit, offset, offset_bytes);
		skip(&bytes.in, offset);
		return take_rnglist(&bounds->ranges_left, bytes.in, address_bytes);
	}
	if (die->cu != skeleton->cu)
		offset += offset_attribute(skeleton, DW_AT_GNU_ranges_base, 0);
	bytes = find_section(&bounds->ranges, dwarf_cu_getdwarf(skeleton->cu), "debug_ranges");
	skip(&bytes.in, offset);
	return take_pairs(&bounds->ranges_left, bytes, address_bytes);
}

/* --- lines --- */

/*
 * Number of rows that a line number program emits; stops above a bound, and fails at an overlong
 * number.
 */
static uint64_t count_rows(struct ctx_cursor *in, uint8_t opcode_base, const uint8_t *arguments, uint64_t max)
{
	uint64_t n = 0;

	while (has_more(in) && n <= max) {
		uint8_t code = *in->at++;

		if (code >= opcode_base || code == DW_LNS_copy) {
			n++;
		} else if (code == 0) {
			uint64_t bytes = ctx_cursor_get_varint(in);

			if (has_more(in) && *in->at == DW_LNE_end_sequence)
				n++;
			skip(in, bytes);
		} else if (code == DW_LNS_fixed_advance_pc) {
			skip(in, 2);
		} else {
			for (uint8_t i = 0; i < arguments[code - 1]; i++)
				ctx_elf_skip_leb(in);
		}
	}
	return n;
}

/*
 * libdw builds a path for each file: compilation directory, directory from the header, name. Upper
 * bound of the bytes of all of them; paths in .debug_line_str (version 5) are assumed to be short.
 */
static uint64_t path_bytes(Dwarf_Die *unit, const uint8_t *header, uint64_t header_bytes)
{
	Dwarf_Attribute attribute;
	const char *folder = dwarf_formstring(dwarf_attr(unit, DW_AT_comp_dir, &attribute));
	uint64_t longest = 0;

	for (uint64_t at = 0; at < header_bytes;) {
		const uint8_t *zero = memchr(header + at, 0, header_bytes - at);
		uint64_t end = zero != NULL ? (uint64_t)(zero - header) : header_bytes;

		longest = end - at > longest ? end - at : longest;
		at = end + 1;
	}
	if (folder != NULL)
		longest += strlen(folder);
	return header_bytes / FILE_BYTES_MIN * longest;
}

bool ctx_dwarf_bounds_take_lines(struct ctx_dwarf_bounds *bounds, Dwarf_Die *unit, uint64_t *ret_bytes)
{
	uint64_t offset = offset_attribute(unit, DW_AT_stmt_list, UINT64_MAX);
	struct bytes bytes = find_section(&bounds->lines, dwarf_cu_getdwarf(unit->cu), "debug_line");
	struct ctx_cursor *in = &bytes.in;
	uint64_t length, version, header_bytes, rows, paths;
	size_t offset_bytes = 4;
	uint8_t opcode_base;
	const uint8_t *header, *arguments;

	*ret_bytes = 0;
	if (bounds->rows_left == 0)
		return false;
	skip(in, offset);
	length = take_fixed(&bytes, 4);
	if (length == UINT32_MAX) {
		offset_bytes = 8;
		length = take_fixed(&bytes, 8);
	}
	if (length < ctx_cursor_left(in))
		in->end = in->at + length;
	version = take_fixed(&bytes, 2);
	if (version >= 5)
		skip(in, 2);
	header_bytes = take_fixed(&bytes, offset_bytes);
	header = in->at;
	skip(in, header_bytes);
	header_bytes = (uint64_t)(in->at - header);
	if (header_bytes < 6)
		return true; /* libdw detects this, too */
	arguments = header + (version >= 4 ? 5 : 4);
	opcode_base = *arguments++;
	if (header_bytes < 6 + (uint64_t)opcode_base)
		return true;
	rows = count_rows(in, opcode_base, arguments,
			  bounds->rows_left < UNIT_ROWS_MAX ? bounds->rows_left : UNIT_ROWS_MAX);
	if (is_overlong(in))
		rows = UINT64_MAX - header_bytes;
	rows += header_bytes / 16; /* files: few bytes each, but libdw keeps them as well */
	if (rows > UNIT_ROWS_MAX || rows > bounds->rows_left) {
		bounds->rows_left = rows > bounds->rows_left ? 0 : bounds->rows_left;
		return false;
	}
	bounds->rows_left -= rows;
	paths = path_bytes(unit, header, header_bytes);
	if (paths > UNIT_PATHS_MAX)
		return false;
	*ret_bytes = rows * LIBDW_ROW_BYTES + header_bytes * LIBDW_FILE_BYTES + paths / 4;
	return true;
}

/* --- strings --- */

/* libdw checks only that strings begin in their section, not that they end there. */
static enum ctx_status check_strings(Elf *elf, struct ctx_err *err)
{
	static const char *const sections[] = {"debug_str", "debug_line_str"};
	size_t names;

	if (elf_getshdrstrndx(elf, &names) != 0)
		return ctx_err_set(err, CTX_E_FORMAT, "no section names");
	for (size_t i = 0; i < CTX_COUNT_OF(sections); i++) {
		Elf_Scn *at = NULL;
		Elf_Data *data;

		while ((data = next_section(elf, names, sections[i], &at)) != NULL) {
			if (data->d_size != 0 && ((const char *)data->d_buf)[data->d_size - 1] != '\0')
				return ctx_err_set(err, CTX_E_FORMAT, ".%s: the last string has no end",
						   sections[i]);
		}
	}
	return CTX_OK;
}

/* --- abbreviations --- */

/* Stops above a bound; an overlong number exceeds every bound. */
static uint64_t count_abbreviations(struct ctx_cursor in, uint64_t max)
{
	uint64_t n = 0;

	while (n <= max && has_more(&in) && ctx_cursor_get_varint(&in) != 0) {
		uint64_t name, form;

		n++;
		ctx_elf_skip_leb(&in); /* tag */
		skip(&in, 1);
		do {
			name = ctx_cursor_get_varint(&in);
			form = ctx_cursor_get_varint(&in);
			if (form == DW_FORM_implicit_const)
				ctx_elf_skip_leb(&in);
		} while ((name != 0 || form != 0) && has_more(&in));
	}
	return is_overlong(&in) ? max + 1 : n;
}

static enum ctx_status check_abbreviations(Dwarf *dwarf, uint64_t debug_bytes, struct ctx_err *err)
{
	uint64_t left = debug_bytes / BYTES_PER_ABBREVIATION + ABBREVIATIONS_EXTRA;
	struct ctx_dwarf_section section = {0};
	struct ctx_cursor in = find_section(&section, dwarf, "debug_abbrev").in;
	Dwarf_Off offset = 0, next, table, before = UINT64_MAX;
	uint64_t n = 0;
	size_t header;

	if (left > ABBREVIATIONS_MAX)
		left = ABBREVIATIONS_MAX;
	while (dwarf_next_unit(dwarf, offset, &next, &header, NULL, &table, NULL, NULL, NULL, NULL) == 0 &&
	       next > offset) {
		struct ctx_cursor here = in;

		skip(&here, table);
		if (table != before)
			n = count_abbreviations(here, left);
		if (n > left)
			return ctx_err_set(err, CTX_E_LIMIT,
					   "more abbreviations than so much debug information needs");
		left -= n;
		before = table;
		offset = next;
	}
	return CTX_OK;
}

/* --- both --- */

enum ctx_status ctx_dwarf_bounds_check(Dwarf *dwarf, uint64_t debug_bytes, struct ctx_err *err)
{
	enum ctx_status status = check_strings(dwarf_getelf(dwarf), err);

	return status == CTX_OK ? check_abbreviations(dwarf, debug_bytes, err) : status;
}
