/*
 *	ELF header --> program headers --> PT_NOTE segments --.
 *	          `--> section headers --> SHT_NOTE sections --+--> the note "GNU", NT_GNU_BUILD_ID
 *
 * Segments come first, because every mapped object has them. The program headers of a separate
 * debug file describe the original file; there the note is found through the sections.
 */
#include "elf/elf_buildid.h"

#include "elf/elf_bytes.h"

#include <elf.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define NOTES_MAX 128u	    /* of one segment or section */
#define NOTE_HEAD_BYTES 16u /* with the name "GNU" */
#define HEADERS_MAX 256u

struct source {
	int fd; /* -1: memory */
	const uint8_t *image;
	size_t n;
	bool is_64, big_endian;
};

struct table { /* of headers */
	uint64_t offset;
	size_t n, entry_bytes;
};

struct notes { /* fields of a header */
	uint32_t type;
	uint64_t offset, size, align;
};

static bool read_at(const struct source *source, void *bytes, size_t n, uint64_t offset)
{
	if (source->fd >= 0)
		return offset <= INT64_MAX && pread(source->fd, bytes, n, (off_t)offset) == (ssize_t)n;
	if (offset > source->n || n > source->n - offset)
		return false;
	memcpy(bytes, source->image + offset, n);
	return true;
}

static uint64_t align_up(uint64_t n, uint64_t align)
{
	return (n + align - 1) & ~(align - 1);
}

/*
 * Walks over the notes; a note is: length of the name, length of the contents, type, name,
 * contents.
 */
static bool find_in_notes(const struct source *source, const struct notes *notes, char text[CTX_BUILDID_TEXT])
{
	uint64_t align = notes->align == 8 ? 8 : 4, at = 0;
	uint8_t head[NOTE_HEAD_BYTES], id[CTX_BUILDID_BYTES];

	for (size_t i = 0; i < NOTES_MAX && notes->size >= sizeof(head) && at <= notes->size - sizeof(head);
	     i++) {
		struct ctx_cursor cursor = ctx_cursor_make(head, sizeof(head));
		uint64_t name_bytes, id_bytes, type, id_at;

		if (!read_at(source, head, sizeof(head), notes->offset + at))
			return false;
		name_bytes = ctx_elf_get_uint(&cursor, 4, source->big_endian);
		id_bytes = ctx_elf_get_uint(&cursor, 4, source->big_endian);
		type = ctx_elf_get_uint(&cursor, 4, source->big_endian);
		id_at = align_up(at + 12 + name_bytes, align);
		if (id_at > notes->size || id_bytes > notes->size - id_at)
			return false;
		if (type == NT_GNU_BUILD_ID && name_bytes == 4 && memcmp(cursor.at, "GNU", 4) == 0) {
			id_bytes = id_bytes < sizeof(id) ? id_bytes : sizeof(id);
			if (id_bytes == 0 || !read_at(source, id, (size_t)id_bytes, notes->offset + id_at))
				return false;
			ctx_buildid_format(id, (size_t)id_bytes, text);
			return true;
		}
		at = align_up(id_at + id_bytes, align);
	}
	return false;
}

static struct notes read_segment(const struct source *source, struct ctx_cursor header)
{
	size_t word = source->is_64 ? 8 : 4;
	struct notes notes = {.type = (uint32_t)ctx_elf_get_uint(&header, 4, source->big_endian)};

	if (source->is_64)
		(void)ctx_cursor_get_bytes(&header, 4); /* flags */
	notes.offset = ctx_elf_get_uint(&header, word, source->big_endian);
	(void)ctx_cursor_get_bytes(&header, 2 * word); /* addresses */
	notes.size = ctx_elf_get_uint(&header, word, source->big_endian);
	(void)ctx_cursor_get_bytes(&header, 8); /* size in memory, and flags of 32-bit files */
	notes.align = ctx_elf_get_uint(&header, word, source->big_endian);
	return notes;
}

static struct notes read_section(const struct source *source, struct ctx_cursor header)
{
	size_t word = source->is_64 ? 8 : 4;
	struct notes notes = {0};

	(void)ctx_cursor_get_bytes(&header, 4); /* name */
	notes.type = (uint32_t)ctx_elf_get_uint(&header, 4, source->big_endian);
	(void)ctx_cursor_get_bytes(&header, 2 * word); /* flags, address */
	notes.offset = ctx_elf_get_uint(&header, word, source->big_endian);
	notes.size = ctx_elf_get_uint(&header, word, source->big_endian);
	(void)ctx_cursor_get_bytes(&header, 8); /* link, info */
	notes.align = ctx_elf_get_uint(&header, word, source->big_endian);
	return notes;
}

/* The build id from the notes of all headers of one type in a table. */
static bool find_in_table(const struct source *source, const struct table *table, bool is_sections,
			  char text[CTX_BUILDID_TEXT])
{
	uint8_t headers[HEADERS_MAX * sizeof(Elf64_Shdr)];
	size_t n = table->n < HEADERS_MAX ? table->n : HEADERS_MAX;

	if (n == 0 || !read_at(source, headers, n * table->entry_bytes, table->offset))
		return false;
	for (size_t i = 0; i < n; i++) {
		struct ctx_cursor header =
			ctx_cursor_make(headers + i * table->entry_bytes, table->entry_bytes);
		struct notes notes =
			is_sections ? read_section(source, header) : read_segment(source, header);

		if (notes.type == (is_sections ? (uint32_t)SHT_NOTE : (uint32_t)PT_NOTE) &&
		    find_in_notes(source, &notes, text))
			return true;
	}
	return false;
}

static struct table read_table(struct ctx_cursor *counts, uint64_t offset, size_t entry_bytes,
			       bool big_endian)
{
	bool is_known = ctx_elf_get_uint(counts, 2, big_endian) == entry_bytes;
	size_t n = (size_t)ctx_elf_get_uint(counts, 2, big_endian);

	return (struct table){.offset = offset, .n = is_known ? n : 0, .entry_bytes = entry_bytes};
}

static bool find(struct source *source, char text[CTX_BUILDID_TEXT])
{
	uint8_t bytes[sizeof(Elf64_Ehdr)];
	struct table segments, sections;
	struct ctx_cursor header;
	uint64_t segments_at, sections_at;
	size_t word;

	text[0] = '\0';
	if (!read_at(source, bytes, sizeof(Elf32_Ehdr), 0) || memcmp(bytes, ELFMAG, SELFMAG) != 0)
		return false;
	source->is_64 = bytes[EI_CLASS] == ELFCLASS64;
	source->big_endian = bytes[EI_DATA] == ELFDATA2MSB;
	word = source->is_64 ? 8 : 4;
	if (source->is_64 && !read_at(source, bytes, sizeof(Elf64_Ehdr), 0))
		return false;
	header = ctx_cursor_make(bytes, sizeof(bytes));
	(void)ctx_cursor_get_bytes(&header, EI_NIDENT + 8 + word); /* to the entry point */
	segments_at = ctx_elf_get_uint(&header, word, source->big_endian);
	sections_at = ctx_elf_get_uint(&header, word, source->big_endian);
	(void)ctx_cursor_get_bytes(&header, 6); /* flags, size of this header */
	segments = read_table(&header, segments_at, source->is_64 ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr),
			      source->big_endian);
	sections = read_table(&header, sections_at, source->is_64 ? sizeof(Elf64_Shdr) : sizeof(Elf32_Shdr),
			      source->big_endian);
	return find_in_table(source, &segments, false, text) || find_in_table(source, &sections, true, text);
}

bool ctx_buildid_of_fd(int fd, char text[CTX_BUILDID_TEXT])
{
	struct source source = {.fd = fd};

	return find(&source, text);
}

bool ctx_buildid_of_image(const uint8_t *image, size_t n, char text[CTX_BUILDID_TEXT])
{
	struct source source = {.fd = -1, .image = image, .n = n};

	return find(&source, text);
}

bool ctx_buildid_of_notes(const uint8_t *notes, size_t n, char text[CTX_BUILDID_TEXT])
{
	struct source source = {
		.fd = -1, .image = notes, .n = n, .big_endian = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__};
	struct notes all = {.size = n};

	text[0] = '\0';
	return find_in_notes(&source, &all, text);
}
