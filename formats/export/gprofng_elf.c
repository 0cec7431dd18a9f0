/*
 *	made	| header | program headers | build id | segment 0 (a hole) | segment 1 | ... | symbols, names, section headers
 *	copied	| the file, with another place of section headers in its header	       | symbols, names, section headers
 *
 * gprofng finds a function by its file offset, of which it keeps 32 bits. So a synthetic file
 * ("made") omits pages without samples, which places the kernel's modules next to the kernel. Code
 * bytes known to the database are written, so that instructions can be shown.
 */
#include "formats/export/gprofng_elf.h"

#include "base/buildid.h"
#include "base/fileio.h"
#include "base/mem.h"
#include "formats/export/export_stack.h"
#include "formats/gprofng/gp_wire.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PAGE ((uint64_t)4096)
#define GAP_PAGES ((uint64_t)16)	/* pages without samples that do not divide a segment */
#define SEGMENT_MAX ((uint64_t)1 << 30) /* gprofng reads a segment's size as an int */
#define SEGMENTS_MAX 60000u
#define OFFSET_MAX (((uint64_t)1 << 32) - ((uint64_t)1 << 28))
#define SECTIONS_MAX 65000u
#define HEADER_BYTES 64u
#define PROGRAM_BYTES 56u
#define SECTION_BYTES 64u
#define SYMBOL_BYTES 24u
#define NOTE_HEAD_BYTES 16u

struct section {
	uint32_t name, type;
	uint64_t flags, address, offset, size;
	uint32_t link, info;
	uint64_t align, entry;
};

static void put_section(struct ctx_buf *out, const struct section *section)
{
	ctx_buf_put_u32(out, section->name);
	ctx_buf_put_u32(out, section->type);
	ctx_buf_put_u64(out, section->flags);
	ctx_buf_put_u64(out, section->address);
	ctx_buf_put_u64(out, section->offset);
	ctx_buf_put_u64(out, section->size);
	ctx_buf_put_u32(out, section->link);
	ctx_buf_put_u32(out, section->info);
	ctx_buf_put_u64(out, section->align);
	ctx_buf_put_u64(out, section->entry);
}

static void put_zeros(struct ctx_buf *out, size_t n)
{
	uint8_t *room = ctx_buf_reserve(out, n);

	if (room == NULL)
		return;
	memset(room, 0, n);
	out->n += n;
}

/* Symbols */

/* gprofng drops leaf frames in functions called "@plt". */
static void put_function_name(struct ctx_buf *names, const struct ctx_function_info *info)
{
	const char *name = info == NULL ? "<Unknown>" : info->linkage_name;
	size_t begin = names->n, blanks = 0;

	ctx_export_put_text(names, name[0] != '\0' || info == NULL ? name : info->name);
	for (size_t i = begin; i < names->n; i++)
		blanks += names->bytes[i] == ' ';
	if (begin + blanks == names->n) {
		names->n = begin;
		ctx_buf_put_text(names, "<no name>");
	}
	if (strcmp(name, "@plt") == 0)
		ctx_buf_put_u8(names, ' ');
	ctx_buf_put_u8(names, 0);
}

/*
 * The table and its names; `section_of` by symbol. Names are linkage names, which gprofng
 * demangles; on one line, since they are printed.
 */
static void put_symbols(const struct ctx_gpx_elf *elf, const uint16_t *section_of, struct ctx_buf *symbols,
			struct ctx_buf *names)
{
	const struct ctx_profile *profile = elf->input->profile;

	put_zeros(symbols, SYMBOL_BYTES);
	ctx_buf_put_u8(names, 0);
	for (size_t i = 0; i < elf->object->n_symbols; i++) {
		const struct ctx_gpx_symbol *symbol = &elf->object->symbols[i];
		const struct ctx_function_info *info = symbol->function < profile->n_functions
							       ? &profile->functions[symbol->function]
							       : NULL;

		ctx_buf_put_u32(symbols, (uint32_t)names->n);
		ctx_buf_put_u8(symbols, STB_GLOBAL << 4 | STT_FUNC);
		ctx_buf_put_u8(symbols, STV_DEFAULT);
		ctx_buf_put_u16(symbols, section_of[i]);
		ctx_buf_put_u64(symbols, symbol->begin);
		ctx_buf_put_u64(symbols, symbol->end - symbol->begin);
		put_function_name(names, info);
	}
}

static struct section symbol_section(uint32_t name, uint64_t offset, uint64_t size, uint32_t strings)
{
	return (struct section){.name = name,
				.type = SHT_SYMTAB,
				.offset = offset,
				.size = size,
				.link = strings,
				.info = 1,
				.align = 8,
				.entry = SYMBOL_BYTES};
}

static struct section string_section(uint32_t name, uint64_t offset, uint64_t size)
{
	return (struct section){.name = name, .type = SHT_STRTAB, .offset = offset, .size = size, .align = 1};
}

/* A synthetic file */

static uint64_t page_begin(uint64_t address)
{
	return address & ~(PAGE - 1);
}

static uint64_t page_end(uint64_t address) /* end of the page of the preceding byte */
{
	return page_begin(address - 1) + PAGE;
}

static enum ctx_status add_segment(struct ctx_gpx_object *object, uint64_t begin, uint64_t end,
				   struct ctx_err *err)
{
	if (object->n_segments == SEGMENTS_MAX || end - begin > SEGMENT_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "%s: functions are too far apart", object->name);
	if (ctx_grow(&object->segments, &object->segments_cap, object->n_segments + 1, err) != CTX_OK)
		return CTX_E_NOMEM;
	object->segments[object->n_segments++] =
		(struct ctx_gpx_segment){.address = begin, .size = end - begin};
	return CTX_OK;
}

/*
 * Runs of pages with symbols; a run that reaches the end of the address space loses its last page.
 */
static enum ctx_status divide(struct ctx_gpx_object *object, uint64_t gap, struct ctx_err *err)
{
	uint64_t begin = 0, end = 0;
	enum ctx_status status = CTX_OK;

	object->n_segments = 0;
	for (size_t i = 0; i < object->n_symbols && status == CTX_OK; i++) {
		const struct ctx_gpx_symbol *symbol = &object->symbols[i];
		uint64_t first = page_begin(symbol->begin);
		uint64_t last =
			symbol->end > UINT64_MAX - PAGE ? page_begin(UINT64_MAX) : page_end(symbol->end);

		if (last <= first)
			continue;
		if (end != 0 && (first <= end || first - end <= gap) && last - begin <= SEGMENT_MAX) {
			end = last > end ? last : end;
			continue;
		}
		if (end != 0)
			status = add_segment(object, begin, end, err);
		begin = first > end || end == 0 ? first : end;
		end = last;
	}
	return status == CTX_OK && end > begin ? add_segment(object, begin, end, err) : status;
}

/* Assigns page-aligned file offsets to the segments, one after the other. */
static enum ctx_status place(struct ctx_gpx_object *object, uint64_t at, uint64_t *ret_end,
			     struct ctx_err *err)
{
	at = at % PAGE == 0 ? at : page_end(at);
	for (size_t i = 0; i < object->n_segments; i++) {
		object->segments[i].file_offset = at;
		at += object->segments[i].size;
	}
	*ret_end = at;
	return at <= OFFSET_MAX
		       ? CTX_OK
		       : ctx_err_set(err, CTX_E_LIMIT, "%s: functions are too far apart", object->name);
}

static size_t note_bytes(const struct ctx_gpx_elf *elf)
{
	size_t n = strlen(elf->build_id) / 2;

	return n == 0 || n > CTX_BUILDID_BYTES ? 0 : NOTE_HEAD_BYTES + (n + 3) / 4 * 4;
}

static void put_note(struct ctx_buf *out, const struct ctx_gpx_elf *elf)
{
	size_t n = strlen(elf->build_id) / 2;

	ctx_buf_put_u32(out, 4);
	ctx_buf_put_u32(out, (uint32_t)n);
	ctx_buf_put_u32(out, NT_GNU_BUILD_ID);
	ctx_buf_put(out, "GNU", 4);
	for (size_t i = 0; i < n; i++) {
		char digits[3] = {elf->build_id[2 * i], elf->build_id[2 * i + 1], '\0'};

		ctx_buf_put_u8(out, (uint8_t)strtoul(digits, NULL, 16));
	}
	put_zeros(out, (4 - n % 4) % 4);
}

static void put_header(struct ctx_buf *out, const struct ctx_gpx_elf *elf, size_t n_programs,
		       uint64_t sections_at, size_t n_sections)
{
	static const uint8_t ident[EI_NIDENT] = {0x7f, 'E', 'L', 'F', ELFCLASS64, ELFDATA2LSB, EV_CURRENT};

	ctx_buf_put(out, ident, sizeof(ident));
	ctx_buf_put_u16(out, ET_DYN);
	ctx_buf_put_u16(out, elf->machine);
	ctx_buf_put_u32(out, EV_CURRENT);
	ctx_buf_put_u64(out, 0);
	ctx_buf_put_u64(out, HEADER_BYTES);
	ctx_buf_put_u64(out, sections_at);
	ctx_buf_put_u32(out, 0);
	ctx_buf_put_u16(out, HEADER_BYTES);
	ctx_buf_put_u16(out, PROGRAM_BYTES);
	ctx_buf_put_u16(out, (uint16_t)n_programs);
	ctx_buf_put_u16(out, SECTION_BYTES);
	ctx_buf_put_u16(out, (uint16_t)n_sections);
	ctx_buf_put_u16(out, (uint16_t)(n_sections - 1));
}

struct program {
	uint32_t type, flags;
	uint64_t offset, address, size, align;
};

static void put_program(struct ctx_buf *out, const struct program *program)
{
	ctx_buf_put_u32(out, program->type);
	ctx_buf_put_u32(out, program->flags);
	ctx_buf_put_u64(out, program->offset);
	ctx_buf_put_u64(out, program->address);
	ctx_buf_put_u64(out, program->address);
	ctx_buf_put_u64(out, program->size);
	ctx_buf_put_u64(out, program->size);
	ctx_buf_put_u64(out, program->align);
}

/*
 * The sections of a synthetic file, in order: none, .text for each segment, .note.gnu.build-id,
 * .symtab, .strtab, .shstrtab.
 */
static const char section_names[] = "\0.text\0.note.gnu.build-id\0.symtab\0.strtab\0.shstrtab";
enum { NAME_TEXT = 1, NAME_NOTE = 7, NAME_SYMBOLS = 26, NAME_STRINGS = 34, NAME_NAMES = 42 };

static void put_headers(struct ctx_buf *head, const struct ctx_gpx_elf *elf, uint64_t sections_at)
{
	const struct ctx_gpx_object *object = elf->object;
	size_t note = note_bytes(elf), n_programs = object->n_segments + (note != 0);
	uint64_t note_at = HEADER_BYTES + n_programs * PROGRAM_BYTES;

	put_header(head, elf, n_programs, sections_at, object->n_segments + 4 + (note != 0));
	for (size_t i = 0; i < object->n_segments; i++)
		put_program(head, &(struct program){.type = PT_LOAD,
						    .flags = PF_R | PF_X,
						    .offset = object->segments[i].file_offset,
						    .address = object->segments[i].address,
						    .size = object->segments[i].size,
						    .align = PAGE});
	if (note == 0)
		return;
	put_program(head, &(struct program){.type = PT_NOTE,
					    .flags = PF_R,
					    .offset = note_at,
					    .address = note_at,
					    .size = note,
					    .align = 4});
	put_note(head, elf);
}

static void put_sections(struct ctx_buf *out, const struct ctx_gpx_elf *elf, uint64_t symbols_at,
			 size_t symbol_bytes, size_t name_bytes)
{
	const struct ctx_gpx_object *object = elf->object;
	size_t note = note_bytes(elf), n_programs = object->n_segments + (note != 0);
	uint32_t strings = (uint32_t)(object->n_segments + (note != 0) + 2);
	struct section none = {0}, symbols, names, sections;

	put_section(out, &none);
	for (size_t i = 0; i < object->n_segments; i++) {
		struct section text = {.name = NAME_TEXT,
				       .type = SHT_PROGBITS,
				       .flags = SHF_ALLOC | SHF_EXECINSTR,
				       .address = object->segments[i].address,
				       .offset = object->segments[i].file_offset,
				       .size = object->segments[i].size,
				       .align = 16};

		put_section(out, &text);
	}
	if (note != 0) {
		uint64_t at = HEADER_BYTES + n_programs * PROGRAM_BYTES;
		struct section id = {.name = NAME_NOTE,
				     .type = SHT_NOTE,
				     .flags = SHF_ALLOC,
				     .address = at,
				     .offset = at,
				     .size = note,
				     .align = 4};

		put_section(out, &id);
	}
	symbols = symbol_section(NAME_SYMBOLS, symbols_at, symbol_bytes, strings);
	names = string_section(NAME_STRINGS, symbols_at + symbol_bytes, name_bytes);
	sections = string_section(NAME_NAMES, symbols_at + symbol_bytes + name_bytes, sizeof(section_names));
	put_section(out, &symbols);
	put_section(out, &names);
	put_section(out, &sections);
}

static enum ctx_status pwrite_all(int fd, const char *path, struct ctx_bytes bytes, uint64_t at,
				  struct ctx_err *err)
{
	if (lseek(fd, (off_t)at, SEEK_SET) < 0)
		return ctx_err_errno(err, CTX_E_IO, "%s", path);
	return ctx_file_write(fd, path, bytes.at, bytes.n, err);
}

static int create(const char *path, struct ctx_err *err)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);

	if (fd < 0)
		ctx_err_errno(err, CTX_E_IO, "%s", path);
	return fd;
}

/* The instructions of functions that the database has. */
static enum ctx_status write_code(const struct ctx_gpx_elf *elf, int fd, const char *path,
				  struct ctx_err *err)
{
	const struct ctx_gpx_object *object = elf->object;
	const struct ctx_code_reader *reader;
	struct ctx_report_code code;
	enum ctx_status status = elf->input->source->code(elf->input->source, &code, err);

	if (status != CTX_OK)
		return status;
	reader = code.reader;
	for (size_t i = 0; reader != NULL && i < object->n_symbols && status == CTX_OK; i++) {
		const struct ctx_function_code *parts;
		size_t n_parts;

		if (object->symbols[i].function >= elf->input->profile->n_functions)
			continue;
		status = reader->code(reader->context, object->symbols[i].function, &parts, &n_parts, err);
		for (size_t k = 0; status == CTX_OK && k < n_parts; k++) {
			const struct ctx_gpx_segment *segment =
				ctx_gpx_object_segment(object, parts[k].address);
			uint64_t in, room;

			if (segment == NULL || parts[k].n_bytes == 0)
				continue;
			in = parts[k].address - segment->address;
			room = segment->size - in;
			status = pwrite_all(fd, path,
					    (struct ctx_bytes){parts[k].bytes, parts[k].n_bytes < room
										       ? parts[k].n_bytes
										       : (size_t)room},
					    segment->file_offset + in, err);
		}
	}
	return status;
}

static enum ctx_status layout(const struct ctx_gpx_elf *elf, uint64_t *ret_end, struct ctx_err *err)
{
	enum ctx_status status = divide(elf->object, GAP_PAGES * PAGE, err);
	size_t note = note_bytes(elf);

	if (status != CTX_OK)
		return status;
	return place(elf->object,
		     HEADER_BYTES + (elf->object->n_segments + (note != 0)) * PROGRAM_BYTES + note, ret_end,
		     err);
}

enum ctx_status ctx_gpx_elf_make(const struct ctx_gpx_elf *elf, const char *path, struct ctx_err *err)
{
	struct ctx_gpx_object *object = elf->object;
	uint16_t *section_of CTX_AUTO_FREE = ctx_calloc(object->n_symbols, sizeof(*section_of));
	struct ctx_buf head = {0}, tail = {0}, names = {0};
	uint64_t end = 0;
	size_t symbol_bytes;
	int fd CTX_AUTO_CLOSE = -1;
	enum ctx_status status = section_of != NULL ? layout(elf, &end, err) : ctx_err_nomem(err);

	for (size_t i = 0; status == CTX_OK && i < object->n_symbols; i++) {
		const struct ctx_gpx_segment *segment =
			ctx_gpx_object_segment(object, object->symbols[i].begin);

		section_of[i] = segment != NULL ? (uint16_t)(segment - object->segments + 1) : SHN_ABS;
	}
	if (status == CTX_OK) {
		put_symbols(elf, section_of, &tail, &names);
		symbol_bytes = tail.n;
		ctx_buf_put(&tail, names.bytes, names.n);
		ctx_buf_put(&tail, section_names, sizeof(section_names));
		put_zeros(&tail, (8 - tail.n % 8) % 8);
		put_headers(&head, elf, end + tail.n);
		put_sections(&tail, elf, end, symbol_bytes, names.n);
		status = head.failed || tail.failed || names.failed ? ctx_err_nomem(err) : CTX_OK;
	}
	if (status == CTX_OK && (fd = create(path, err)) < 0)
		status = CTX_E_IO;
	if (status == CTX_OK)
		status = pwrite_all(fd, path, (struct ctx_bytes){head.bytes, head.n}, 0, err);
	if (status == CTX_OK)
		status = write_code(elf, fd, path, err);
	if (status == CTX_OK)
		status = pwrite_all(fd, path, (struct ctx_bytes){tail.bytes, tail.n}, end, err);
	ctx_buf_deinit(&head);
	ctx_buf_deinit(&tail);
	ctx_buf_deinit(&names);
	return status;
}

/* A copied file */

struct original { /* the original file; all its offsets were checked */
	const uint8_t *bytes;
	size_t n;
	uint64_t programs_at, sections_at, names_at, names_bytes;
	size_t n_programs, n_sections, names_section;
};

static bool lies_inside(uint64_t at, uint64_t bytes, size_t n)
{
	return at <= n && bytes <= n - at;
}

static bool open_original(struct original *file, const struct ctx_buf *image)
{
	const uint8_t *at = image->bytes;
	uint64_t names;
	uint16_t machine;

	*file = (struct original){.bytes = at, .n = image->n};
	if (image->n < HEADER_BYTES || image->n > OFFSET_MAX || memcmp(at, "\177ELF", 4) != 0 ||
	    at[EI_CLASS] != ELFCLASS64 || at[EI_DATA] != ELFDATA2LSB)
		return false;
	machine = ctx_gp_u16(at + 18, false);
	file->programs_at = ctx_gp_u64(at + 32, false);
	file->sections_at = ctx_gp_u64(at + 40, false);
	file->n_programs = ctx_gp_u16(at + 56, false);
	file->n_sections = ctx_gp_u16(at + 60, false);
	file->names_section = ctx_gp_u16(at + 62, false);
	if ((machine != EM_X86_64 && machine != EM_AARCH64) || ctx_gp_u16(at + 54, false) != PROGRAM_BYTES ||
	    ctx_gp_u16(at + 58, false) != SECTION_BYTES || file->n_sections == 0 ||
	    file->n_sections > SECTIONS_MAX || file->names_section >= file->n_sections ||
	    !lies_inside(file->programs_at, file->n_programs * PROGRAM_BYTES, image->n) ||
	    !lies_inside(file->sections_at, file->n_sections * SECTION_BYTES, image->n))
		return false;
	names = file->sections_at + file->names_section * SECTION_BYTES;
	file->names_at = ctx_gp_u64(at + names + 24, false);
	file->names_bytes = ctx_gp_u64(at + names + 32, false);
	return lies_inside(file->names_at, file->names_bytes, image->n);
}

static struct section get_section(const struct original *file, size_t number)
{
	const uint8_t *at = file->bytes + file->sections_at + number * SECTION_BYTES;

	return (struct section){.name = ctx_gp_u32(at, false),
				.type = ctx_gp_u32(at + 4, false),
				.flags = ctx_gp_u64(at + 8, false),
				.address = ctx_gp_u64(at + 16, false),
				.offset = ctx_gp_u64(at + 24, false),
				.size = ctx_gp_u64(at + 32, false),
				.link = ctx_gp_u32(at + 40, false),
				.info = ctx_gp_u32(at + 44, false),
				.align = ctx_gp_u64(at + 48, false),
				.entry = ctx_gp_u64(at + 56, false)};
}

/* The executable parts of the file, as they are mapped. */
static enum ctx_status find_segments(const struct original *file, struct ctx_gpx_object *object,
				     struct ctx_err *err)
{
	uint64_t end = 0;
	enum ctx_status status = CTX_OK;

	object->n_segments = 0;
	for (size_t i = 0; i < file->n_programs && status == CTX_OK; i++) {
		const uint8_t *at = file->bytes + file->programs_at + i * PROGRAM_BYTES;
		uint64_t offset = ctx_gp_u64(at + 8, false), address = ctx_gp_u64(at + 16, false);
		uint64_t size = ctx_gp_u64(at + 32, false), lead = address % PAGE;

		if (ctx_gp_u32(at, false) != PT_LOAD || (ctx_gp_u32(at + 4, false) & PF_X) == 0 || size == 0)
			continue;
		if (!lies_inside(offset, size, file->n) || offset % PAGE != lead ||
		    size > UINT64_MAX - PAGE - address || address - lead < end || size + PAGE > SEGMENT_MAX)
			return CTX_END;
		end = page_end(address + size);
		status = add_segment(object, address - lead, end, err);
		if (status == CTX_OK)
			object->segments[object->n_segments - 1].file_offset = offset - lead;
	}
	return status;
}

/* The section with an address and its file offset; 0: none. */
static uint16_t find_section(const struct original *file, uint64_t address, uint64_t offset)
{
	for (size_t i = 1; i < file->n_sections; i++) {
		struct section section = get_section(file, i);

		if (section.type == SHT_PROGBITS && section.address <= address &&
		    address - section.address < section.size &&
		    section.offset + (address - section.address) == offset)
			return (uint16_t)i;
	}
	return 0;
}

static bool find_sections(const struct original *file, const struct ctx_gpx_object *object,
			  uint16_t *section_of)
{
	for (size_t i = 0; i < object->n_symbols; i++) {
		uint64_t begin = object->symbols[i].begin;
		const struct ctx_gpx_segment *segment = ctx_gpx_object_segment(object, begin);

		if (segment == NULL || ctx_gpx_object_segment(object, object->symbols[i].end - 1) != segment)
			return false;
		section_of[i] = find_section(file, begin, segment->file_offset + (begin - segment->address));
		if (section_of[i] == 0)
			return false;
	}
	return true;
}

/* Sections that gprofng would prefer to our symbols, or would drop frames for. */
static bool is_hidden(const char *name)
{
	return strcmp(name, ".symtab") == 0 || strcmp(name, ".plt") == 0 ||
	       strcmp(name, ".gnu_debuglink") == 0;
}

struct new_symbols {
	uint64_t at;		  /* in the file */
	size_t bytes, name_bytes; /* their names follow them */
};

/*
 * Section table: the old sections, some renamed, then the symbols, their names and the names of all
 * sections.
 */
static void put_new_sections(struct ctx_buf *out, const struct original *file, const struct ctx_buf *texts,
			     const struct new_symbols *new)
{
	uint32_t added = (uint32_t)file->names_bytes;
	uint64_t names_at = new->at + new->bytes;
	struct section symbols =
		symbol_section(added + 9, new->at, new->bytes, (uint32_t)file->n_sections + 1);
	struct section names = string_section(added + 17, names_at, new->name_bytes);
	struct section sections = string_section(added + 25, names_at + new->name_bytes, texts->n);

	for (size_t i = 0; i < file->n_sections; i++) {
		struct section section = get_section(file, i);

		if (texts->failed || section.name >= file->names_bytes)
			section.name = 0;
		else if (is_hidden((const char *)texts->bytes + section.name))
			section.name = added + 1;
		if (section.type == SHT_SYMTAB)
			section.type = SHT_PROGBITS;
		put_section(out, &section);
	}
	put_section(out, &symbols);
	put_section(out, &names);
	put_section(out, &sections);
}

struct tail { /* bytes appended to the file */
	struct ctx_buf bytes;
	size_t sections; /* appended bytes before the section table */
};

static void put_tail(struct tail *ret, const struct ctx_gpx_elf *elf, const struct original *file,
		     const uint16_t *section_of)
{
	static const char added[] = "\0.before\0.symtab\0.strtab\0.shstrtab";
	struct ctx_buf *tail = &ret->bytes, names = {0}, texts = {0};
	size_t lead = (8 - file->n % 8) % 8;
	struct new_symbols new = {.at = file->n + lead};

	ctx_buf_put(&texts, file->bytes + file->names_at, (size_t)file->names_bytes);
	ctx_buf_put(&texts, added, sizeof(added));
	put_zeros(tail, lead);
	put_symbols(elf, section_of, tail, &names);
	new.bytes = tail->n - lead;
	new.name_bytes = names.n;
	ctx_buf_put(tail, names.bytes, names.n);
	ctx_buf_put(tail, texts.bytes, texts.n);
	put_zeros(tail, (8 - (file->n + tail->n) % 8) % 8);
	ret->sections = tail->n;
	put_new_sections(tail, file, &texts, &new);
	tail->failed |= names.failed || texts.failed;
	ctx_buf_deinit(&names);
	ctx_buf_deinit(&texts);
}

static void set_u16(uint8_t *at, size_t value)
{
	at[0] = (uint8_t)value;
	at[1] = (uint8_t)(value >> 8);
}

static enum ctx_status write_copy(struct ctx_buf *image, const struct original *file, const struct tail *tail,
				  const char *path, struct ctx_err *err)
{
	uint64_t sections_at = file->n + tail->sections;
	int fd CTX_AUTO_CLOSE = create(path, err);
	enum ctx_status status;

	if (fd < 0)
		return CTX_E_IO;
	for (unsigned i = 0; i < 8; i++)
		image->bytes[40 + i] = (uint8_t)(sections_at >> 8 * i);
	set_u16(image->bytes + 60, file->n_sections + 3);
	set_u16(image->bytes + 62, file->n_sections + 2);
	status = ctx_file_write(fd, path, image->bytes, image->n, err);
	return status == CTX_OK ? ctx_file_write(fd, path, tail->bytes.bytes, tail->bytes.n, err) : status;
}

enum ctx_status ctx_gpx_elf_copy(const struct ctx_gpx_elf *elf, struct ctx_buf *image, const char *path,
				 struct ctx_err *err)
{
	uint16_t *section_of CTX_AUTO_FREE = ctx_calloc(elf->object->n_symbols, sizeof(*section_of));
	struct tail tail = {0};
	struct original file;
	enum ctx_status status;

	if (section_of == NULL)
		return ctx_err_nomem(err);
	if (!open_original(&file, image))
		return CTX_END;
	status = find_segments(&file, elf->object, err);
	if (status != CTX_OK)
		return status;
	if (!find_sections(&file, elf->object, section_of))
		return CTX_END;
	put_tail(&tail, elf, &file, section_of);
	status = ctx_buf_check(&tail.bytes, err);
	if (status == CTX_OK)
		status = write_copy(image, &file, &tail, path, err);
	ctx_buf_deinit(&tail.bytes);
	return status;
}
