/*
 * The GNU build id of an ELF file, read with a few preads: program headers, then the note segments.
 */
#include "base/fileio.h"
#include "base/mem.h"
#include "collect/procfs.h"

#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define NOTES_MAX_BYTES 65536u
#define HEADERS_MAX 256u

void ctx_build_id_format(const uint8_t *bytes, size_t n, char text[CTX_BUILD_ID_TEXT])
{
	static const char digits[] = "0123456789abcdef";

	n = n < (CTX_BUILD_ID_TEXT - 1) / 2 ? n : (CTX_BUILD_ID_TEXT - 1) / 2;
	for (size_t i = 0; i < n; i++) {
		text[2 * i] = digits[bytes[i] >> 4];
		text[2 * i + 1] = digits[bytes[i] & 15];
	}
	text[2 * n] = '\0';
}

static bool read_at(int fd, void *bytes, size_t n, uint64_t offset)
{
	return offset <= INT64_MAX && pread(fd, bytes, n, (off_t)offset) == (ssize_t)n;
}

static bool find_in_notes(const uint8_t *notes, size_t n, char text[CTX_BUILD_ID_TEXT])
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
			ctx_build_id_format(notes + at + name_bytes, note.n_descsz, text);
			return true;
		}
		at += name_bytes + desc_bytes;
	}
	return false;
}

static bool find_in_segment(int fd, uint64_t offset, uint64_t size, char text[CTX_BUILD_ID_TEXT])
{
	uint8_t *notes CTX_AUTO_FREE = NULL;

	if (size == 0 || size > NOTES_MAX_BYTES)
		return false;
	notes = malloc((size_t)size);
	return notes != NULL && read_at(fd, notes, (size_t)size, offset) &&
	       find_in_notes(notes, (size_t)size, text);
}

static bool find_64(int fd, char text[CTX_BUILD_ID_TEXT])
{
	Elf64_Ehdr file;
	Elf64_Phdr segment;

	if (!read_at(fd, &file, sizeof(file), 0) || file.e_phentsize != sizeof(segment))
		return false;
	for (uint32_t i = 0; i < file.e_phnum && i < HEADERS_MAX; i++) {
		if (!read_at(fd, &segment, sizeof(segment), file.e_phoff + i * sizeof(segment)))
			return false;
		if (segment.p_type == PT_NOTE &&
		    find_in_segment(fd, segment.p_offset, segment.p_filesz, text))
			return true;
	}
	return false;
}

static bool find_32(int fd, char text[CTX_BUILD_ID_TEXT])
{
	Elf32_Ehdr file;
	Elf32_Phdr segment;

	if (!read_at(fd, &file, sizeof(file), 0) || file.e_phentsize != sizeof(segment))
		return false;
	for (uint32_t i = 0; i < file.e_phnum && i < HEADERS_MAX; i++) {
		if (!read_at(fd, &segment, sizeof(segment), file.e_phoff + i * sizeof(segment)))
			return false;
		if (segment.p_type == PT_NOTE &&
		    find_in_segment(fd, segment.p_offset, segment.p_filesz, text))
			return true;
	}
	return false;
}

/* Only plain files: opening a device or a pipe that a process has mapped could do something, or wait. */
static int open_plain(const char *path)
{
	struct stat info;

	if (stat(path, &info) != 0 || !S_ISREG(info.st_mode))
		return -1;
	return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
}

void ctx_elf_build_id(int64_t pid, const char *path, char text[CTX_BUILD_ID_TEXT])
{
	unsigned char ident[EI_NIDENT];
	char inside[4096 + 32];
	int fd CTX_AUTO_CLOSE = -1;

	text[0] = '\0';
	if (path[0] != '/' || path[1] == '/')
		return;
	if (pid != 0 &&
	    snprintf(inside, sizeof(inside), "/proc/%" PRId64 "/root%s", pid, path) < (int)sizeof(inside))
		fd = open_plain(inside);
	if (fd < 0)
		fd = open_plain(path);
	if (fd < 0 || !read_at(fd, ident, sizeof(ident), 0) || memcmp(ident, ELFMAG, SELFMAG) != 0)
		return;
	if (ident[EI_CLASS] == ELFCLASS64)
		(void)find_64(fd, text);
	else if (ident[EI_CLASS] == ELFCLASS32)
		(void)find_32(fd, text);
}
