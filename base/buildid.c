/*
 * ELF file: header -> program headers -> PT_NOTE segments -> the note "GNU", NT_GNU_BUILD_ID. Everything is
 * read through one bounded source, a file or memory.
 */
#include "base/buildid.h"

#include "base/mem.h"

#include <elf.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

#define NOTES_MAX_BYTES 65536u
#define HEADERS_MAX 256u

struct source {
	int fd; /* -1: memory */
	const uint8_t *image;
	size_t n;
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

void ctx_buildid_format(const uint8_t *bytes, size_t n, char text[CTX_BUILDID_TEXT])
{
	static const char digits[] = "0123456789abcdef";

	n = n < (CTX_BUILDID_TEXT - 1) / 2 ? n : (CTX_BUILDID_TEXT - 1) / 2;
	for (size_t i = 0; i < n; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * n] = '\0';
}

bool ctx_buildid_is_plain(const char *text)
{
	size_t n = strspn(text, "0123456789abcdef");

	return n >= 2 && n < CTX_BUILDID_TEXT && text[n] == '\0';
}

static bool find_in_notes(const uint8_t *notes, size_t n, char text[CTX_BUILDID_TEXT])
{
	Elf64_Nhdr note; /* the same layout in 32-bit files */
	size_t at = 0;

	while (n - at >= sizeof(note)) {
		size_t name_bytes, desc_bytes;

		memcpy(&note, notes + at, sizeof(note));
		at += sizeof(note);
		name_bytes = ((size_t)note.n_namesz + 3) & ~(size_t)3;
		desc_bytes = ((size_t)note.n_descsz + 3) & ~(size_t)3;
		if (name_bytes > n - at || desc_bytes > n - at - name_bytes)
			return false;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    memcmp(notes + at, "GNU", 4) == 0) {
			ctx_buildid_format(notes + at + name_bytes, note.n_descsz, text);
			return text[0] != '\0';
		}
		at += name_bytes + desc_bytes;
	}
	return false;
}

static bool find_in_segment(const struct source *source, uint64_t offset, uint64_t size,
			    char text[CTX_BUILDID_TEXT])
{
	uint8_t *notes CTX_AUTO_FREE = NULL;

	if (size == 0 || size > NOTES_MAX_BYTES)
		return false;
	notes = malloc((size_t)size);
	return notes != NULL && read_at(source, notes, (size_t)size, offset) &&
	       find_in_notes(notes, (size_t)size, text);
}

/* A program header of either class. */
static bool read_segment(const struct source *source, bool wide, uint64_t at, uint32_t *ret_type,
			 uint64_t *ret_offset, uint64_t *ret_size)
{
	Elf64_Phdr segment64;
	Elf32_Phdr segment32;

	if (wide) {
		if (!read_at(source, &segment64, sizeof(segment64), at))
			return false;
		*ret_type = segment64.p_type;
		*ret_offset = segment64.p_offset;
		*ret_size = segment64.p_filesz;
		return true;
	}
	if (!read_at(source, &segment32, sizeof(segment32), at))
		return false;
	*ret_type = segment32.p_type;
	*ret_offset = segment32.p_offset;
	*ret_size = segment32.p_filesz;
	return true;
}

static bool find(const struct source *source, char text[CTX_BUILDID_TEXT])
{
	unsigned char ident[EI_NIDENT];
	Elf64_Ehdr file64 = {0};
	Elf32_Ehdr file32 = {0};
	uint64_t table, step;
	uint32_t n;
	bool wide;

	text[0] = '\0';
	if (!read_at(source, ident, sizeof(ident), 0) || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return false;
	wide = ident[EI_CLASS] == ELFCLASS64;
	if (wide ? !read_at(source, &file64, sizeof(file64), 0)
		 : !read_at(source, &file32, sizeof(file32), 0))
		return false;
	table = wide ? file64.e_phoff : file32.e_phoff;
	step = wide ? sizeof(Elf64_Phdr) : sizeof(Elf32_Phdr);
	n = wide ? file64.e_phnum : file32.e_phnum;
	if ((wide ? file64.e_phentsize : file32.e_phentsize) != step)
		return false;
	for (uint32_t i = 0; i < n && i < HEADERS_MAX; i++) {
		uint64_t offset, size;
		uint32_t type;

		if (table > UINT64_MAX - i * step ||
		    !read_segment(source, wide, table + i * step, &type, &offset, &size))
			return false;
		if (type == PT_NOTE && find_in_segment(source, offset, size, text))
			return true;
	}
	return false;
}

bool ctx_buildid_of_fd(int fd, char text[CTX_BUILDID_TEXT])
{
	struct source source = {.fd = fd};

	return find(&source, text);
}

bool ctx_buildid_of_notes(const uint8_t *notes, size_t n, char text[CTX_BUILDID_TEXT])
{
	text[0] = '\0';
	return find_in_notes(notes, n, text);
}

bool ctx_buildid_of_image(const uint8_t *image, size_t n, char text[CTX_BUILDID_TEXT])
{
	struct source source = {.fd = -1, .image = image, .n = n};

	return find(&source, text);
}
