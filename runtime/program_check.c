#include "runtime/program_check.h"

#include <elf.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SEGMENTS_MAX 40
#define DYNAMIC_MAX 128
#define NAME_BYTES 16
#define INTERPRETERS_MAX 4 /* of scripts, as the kernel */
#define NAMES_BYTES 4096   /* of a loader's symbols that are looked at; glibc's has 1 KB */
#define PART_BYTES 256
#define LOADER_BYTES 128
#define LOADER_64 "/ld-linux-x86-64.so.2"
#define LOADER_32 "/ld-linux.so.2"
#define LOADER_MUSL "/ld-musl-"
#define NEEDED_VERSION "GLIBC_2.35" /* of symbols; _dl_find_object has it */

struct segment {
	uint32_t type;
	uint64_t offset, address, bytes; /* in the file */
};

/* A file in the format of 32 or 64 bits. Its tables are read entry by entry: the stack may be a small one of a signal handler. */
struct program {
	int fd;
	bool is_32;
	size_t n; /* segments */
	uint64_t at;
};

union header {
	Elf64_Ehdr elf;
	Elf32_Ehdr elf_32;
	char text[256];
};

static bool read_at(int fd, uint64_t offset, void *out, size_t n)
{
	return pread(fd, out, n, (off_t)offset) == (ssize_t)n;
}

static bool read_segment(const struct program *program, size_t i, struct segment *ret)
{
	union {
		Elf64_Phdr of_64;
		Elf32_Phdr of_32;
	} entry;
	size_t n = program->is_32 ? sizeof(entry.of_32) : sizeof(entry.of_64);

	if (!read_at(program->fd, program->at + i * n, &entry, n))
		return false;
	*ret = program->is_32 ? (struct segment){entry.of_32.p_type, entry.of_32.p_offset,
						 entry.of_32.p_vaddr, entry.of_32.p_filesz}
			      : (struct segment){entry.of_64.p_type, entry.of_64.p_offset,
						 entry.of_64.p_vaddr, entry.of_64.p_filesz};
	return true;
}

static bool find(const struct program *program, uint32_t type, struct segment *ret)
{
	for (size_t i = 0; i < program->n; i++) {
		if (read_segment(program, i, ret) && ret->type == type)
			return true;
	}
	return false;
}

/* The offset in the file of an address; false: it is in no segment. */
static bool offset_of(const struct program *program, uint64_t address, uint64_t *ret)
{
	struct segment segment;

	for (size_t i = 0; i < program->n; i++) {
		if (read_segment(program, i, &segment) && segment.type == PT_LOAD &&
		    address - segment.address < segment.bytes) {
			*ret = segment.offset + (address - segment.address);
			return true;
		}
	}
	return false;
}

/* False: it is damaged. */
static bool open_segments(struct program *program, const union header *header)
{
	struct segment last;
	size_t bytes;

	program->is_32 = header->elf.e_ident[EI_CLASS] == ELFCLASS32;
	program->n = program->is_32 ? header->elf_32.e_phnum : header->elf.e_phnum;
	program->at = program->is_32 ? header->elf_32.e_phoff : header->elf.e_phoff;
	bytes = program->is_32 ? header->elf_32.e_phentsize : header->elf.e_phentsize;
	return bytes == (program->is_32 ? sizeof(Elf32_Phdr) : sizeof(Elf64_Phdr)) &&
	       program->n <= SEGMENTS_MAX &&
	       (program->n == 0 || read_segment(program, program->n - 1, &last));
}

struct dynamic { /* an entry of the dynamic section */
	int64_t tag;
	uint64_t value;
};

/* False: there are no more. */
static bool read_entry(const struct program *program, const struct segment *dynamic, size_t i,
		       struct dynamic *ret)
{
	union {
		Elf64_Dyn of_64;
		Elf32_Dyn of_32;
	} entry;
	size_t n = program->is_32 ? sizeof(entry.of_32) : sizeof(entry.of_64);

	if (i >= DYNAMIC_MAX || i >= dynamic->bytes / n ||
	    !read_at(program->fd, dynamic->offset + i * n, &entry, n))
		return false;
	*ret = program->is_32 ? (struct dynamic){entry.of_32.d_tag, entry.of_32.d_un.d_val}
			      : (struct dynamic){entry.of_64.d_tag, entry.of_64.d_un.d_val};
	return ret->tag != DT_NULL;
}

/* Where the names of the dynamic section are in the file; 0: nowhere. */
static uint64_t find_names(const struct program *program, const struct segment *dynamic)
{
	struct dynamic entry;
	uint64_t names = 0;

	for (size_t i = 0; read_entry(program, dynamic, i, &entry); i++) {
		if (entry.tag == DT_STRTAB)
			return offset_of(program, entry.value, &names) ? names : 0;
	}
	return 0;
}

static bool is_sanitizer(const char *library)
{
	static const char *const prefixes[] = {"libasan.so", "libtsan.so", "liblsan.so", "libhwasan.so",
					       "libclang_rt."};

	for (size_t i = 0; i < sizeof(prefixes) / sizeof(prefixes[0]); i++) {
		if (strncmp(library, prefixes[i], strlen(prefixes[i])) == 0)
			return true;
	}
	return false;
}

static bool needs_sanitizer(const struct program *program, const struct segment *dynamic)
{
	uint64_t names = find_names(program, dynamic);
	struct dynamic entry;

	for (size_t i = 0; names != 0 && read_entry(program, dynamic, i, &entry); i++) {
		char name[NAME_BYTES + 1] = "";

		if (entry.tag == DT_NEEDED && read_at(program->fd, names + entry.value, name, NAME_BYTES) &&
		    is_sanitizer(name))
			return true;
	}
	return false;
}

/* Whether the version is among names that begin there. Parts of them overlap, so that it is whole in one. */
static bool has_version(int fd, uint64_t names)
{
	char part[PART_BYTES];

	for (uint64_t at = 0; at < NAMES_BYTES; at += sizeof(part) - sizeof(NEEDED_VERSION)) {
		ssize_t n = pread(fd, part, sizeof(part), (off_t)(names + at));

		if (n <= 0)
			return false;
		if (memmem(part, (size_t)n, NEEDED_VERSION, sizeof(NEEDED_VERSION)) != NULL)
			return true;
	}
	return false;
}

/* Whether a loader of glibc, which is a library itself, has what the runtime needs. */
static bool is_recent(const char *loader)
{
	struct program program = {.fd = open(loader, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
	union {
		Elf64_Ehdr elf;
		Elf32_Ehdr elf_32;
	} short_header;
	struct segment dynamic;
	uint64_t names = 0;
	bool is = false;

	if (program.fd < 0)
		return true; /* the kernel says that */
	if (read_at(program.fd, 0, &short_header, sizeof(short_header)) &&
	    memcmp(short_header.elf.e_ident, ELFMAG, SELFMAG) == 0 &&
	    open_segments(&program, (const union header *)&short_header) &&
	    find(&program, PT_DYNAMIC, &dynamic))
		names = find_names(&program, &dynamic);
	is = names != 0 && has_version(program.fd, names);
	close(program.fd);
	return is;
}

static bool ends_with(const char *text, const char *end)
{
	size_t n = strlen(text), m = strlen(end);

	return n >= m && strcmp(text + n - m, end) == 0;
}

static enum ctx_program check_loader(const struct program *program)
{
	struct segment interpreter, dynamic;
	char loader[LOADER_BYTES] = "";
	size_t n;

	if (!find(program, PT_INTERP, &interpreter) || !find(program, PT_DYNAMIC, &dynamic))
		return CTX_PROGRAM_STATIC;
	n = interpreter.bytes < sizeof(loader) ? (size_t)interpreter.bytes : sizeof(loader) - 1;
	if (!read_at(program->fd, interpreter.offset, loader, n))
		return CTX_PROGRAM_UNKNOWN;
	if (strstr(loader, LOADER_MUSL) != NULL)
		return CTX_PROGRAM_MUSL;
	if (!ends_with(loader, program->is_32 ? LOADER_32 : LOADER_64))
		return CTX_PROGRAM_OTHER_LIBC;
	if (!is_recent(loader))
		return CTX_PROGRAM_OLD_LIBC;
	if (needs_sanitizer(program, &dynamic))
		return CTX_PROGRAM_SANITIZED;
	return program->is_32 ? CTX_PROGRAM_FITS_32 : CTX_PROGRAM_FITS;
}

static enum ctx_program check_elf(struct program *program, const union header *header)
{
	bool is_32 = header->elf.e_ident[EI_CLASS] == ELFCLASS32;

	if (header->elf.e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->elf.e_machine != (is_32 ? EM_386 : EM_X86_64))
		return CTX_PROGRAM_OTHER_MACHINE;
	return open_segments(program, header) ? check_loader(program) : CTX_PROGRAM_UNKNOWN;
}

/* "#! /bin/sh -e" -> "/bin/sh" */
static bool read_interpreter(char *line, size_t n, char *out, size_t size)
{
	char *begin, *end;

	line[n < size ? n : size - 1] = '\0';
	begin = line + 2 + strspn(line + 2, " \t");
	end = begin + strcspn(begin, " \t\r\n");
	if (end == begin || *end == '\0')
		return false;
	memmove(out, begin, (size_t)(end - begin));
	out[end - begin] = '\0';
	return true;
}

enum ctx_program ctx_program_check(const char *path)
{
	char name[256];
	enum ctx_program result = CTX_PROGRAM_UNKNOWN;
	bool is_script = true;

	for (int depth = 0; is_script && depth < INTERPRETERS_MAX; depth++) {
		struct program program = {.fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)};
		union header head;
		struct stat info;
		ssize_t n;

		if (program.fd < 0)
			return CTX_PROGRAM_UNKNOWN;
		n = pread(program.fd, &head, sizeof(head), 0);
		is_script = n > 2 && memcmp(head.text, "#!", 2) == 0;
		if (fstat(program.fd, &info) != 0 || !S_ISREG(info.st_mode))
			n = -1;
		else if (!is_script && (info.st_mode & (S_ISUID | S_ISGID)) != 0)
			result = CTX_PROGRAM_PRIVILEGED;
		else if (n >= (ssize_t)sizeof(head.elf) && memcmp(head.elf.e_ident, ELFMAG, SELFMAG) == 0)
			result = check_elf(&program, &head);
		close(program.fd);
		if (n < 0 || (is_script && !read_interpreter(head.text, (size_t)n, name, sizeof(name))))
			return CTX_PROGRAM_UNKNOWN;
		path = name;
	}
	return result;
}

const char *ctx_program_find(const char *name, char *room, size_t size)
{
	const char *search = getenv("PATH");

	if (strchr(name, '/') != NULL)
		return name;
	search = search != NULL ? search : "/bin:/usr/bin";
	while (*search != '\0') {
		size_t n = strcspn(search, ":"), length = strlen(name);

		if (n + length + 3 < size) {
			memcpy(room, n != 0 ? search : ".", n != 0 ? n : 1);
			room[n != 0 ? n : 1] = '/';
			memcpy(room + (n != 0 ? n : 1) + 1, name, length + 1);
			if (access(room, X_OK) == 0)
				return room;
		}
		search += n + (search[n] == ':');
	}
	return NULL;
}

const char *ctx_program_reason(enum ctx_program program)
{
	static const char *const reasons[] = {
		[CTX_PROGRAM_FITS] = "",
		[CTX_PROGRAM_FITS_32] = "a program of 32 bits, for which this installation has no runtime",
		[CTX_PROGRAM_UNKNOWN] = "its file cannot be read",
		[CTX_PROGRAM_STATIC] = "statically linked",
		[CTX_PROGRAM_PRIVILEGED] = "setuid or setgid",
		[CTX_PROGRAM_MUSL] = "made for musl, another C library than glibc",
		[CTX_PROGRAM_OTHER_LIBC] = "made for another C library than glibc",
		[CTX_PROGRAM_OLD_LIBC] = "its C library is older than glibc 2.35",
		[CTX_PROGRAM_OTHER_MACHINE] = "made for another processor",
		[CTX_PROGRAM_NOT_THERE] = "the runtime is not visible in its root directory",
		[CTX_PROGRAM_SANITIZED] = "built with a sanitizer, which replaces the allocator itself",
	};

	return program < CTX_PROGRAM_N ? reasons[program] : "";
}
