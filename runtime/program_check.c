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
#define LOADER "/ld-linux-x86-64.so.2"

/* Its headers are read one by one: the stack may be a small one of a signal handler. */
struct program {
	int fd;
	size_t n; /* segments */
	uint64_t at;
};

static bool read_at(int fd, uint64_t offset, void *out, size_t n)
{
	return pread(fd, out, n, (off_t)offset) == (ssize_t)n;
}

static bool read_segment(const struct program *program, size_t i, Elf64_Phdr *ret)
{
	return read_at(program->fd, program->at + i * sizeof(*ret), ret, sizeof(*ret));
}

static bool find(const struct program *program, uint32_t type, Elf64_Phdr *ret)
{
	for (size_t i = 0; i < program->n; i++) {
		if (read_segment(program, i, ret) && ret->p_type == type)
			return true;
	}
	return false;
}

/* The offset in the file of an address; false: it is in no segment. */
static bool offset_of(const struct program *program, uint64_t address, uint64_t *ret)
{
	Elf64_Phdr segment;

	for (size_t i = 0; i < program->n; i++) {
		if (read_segment(program, i, &segment) && segment.p_type == PT_LOAD &&
		    address - segment.p_vaddr < segment.p_filesz) {
			*ret = segment.p_offset + (address - segment.p_vaddr);
			return true;
		}
	}
	return false;
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

/* The entry of the dynamic section; false: there are no more. */
static bool read_entry(const struct program *program, const Elf64_Phdr *dynamic, size_t i, Elf64_Dyn *ret)
{
	return i < DYNAMIC_MAX && i < dynamic->p_filesz / sizeof(*ret) &&
	       read_at(program->fd, dynamic->p_offset + i * sizeof(*ret), ret, sizeof(*ret)) &&
	       ret->d_tag != DT_NULL;
}

static bool needs_sanitizer(const struct program *program, const Elf64_Phdr *dynamic)
{
	uint64_t names = 0;
	Elf64_Dyn entry;

	for (size_t i = 0; read_entry(program, dynamic, i, &entry); i++) {
		if (entry.d_tag == DT_STRTAB && !offset_of(program, entry.d_un.d_ptr, &names))
			return false;
	}
	for (size_t i = 0; names != 0 && read_entry(program, dynamic, i, &entry); i++) {
		char name[NAME_BYTES + 1] = "";

		if (entry.d_tag == DT_NEEDED &&
		    read_at(program->fd, names + entry.d_un.d_val, name, NAME_BYTES) && is_sanitizer(name))
			return true;
	}
	return false;
}

static enum ctx_program check_elf(struct program *program, const Elf64_Ehdr *header)
{
	Elf64_Phdr interpreter, dynamic;
	char loader[256] = "";
	size_t n;

	if (header->e_ident[EI_CLASS] != ELFCLASS64 || header->e_ident[EI_DATA] != ELFDATA2LSB ||
	    header->e_machine != EM_X86_64)
		return CTX_PROGRAM_OTHER_MACHINE;
	program->n = header->e_phnum;
	program->at = header->e_phoff;
	if (header->e_phentsize != sizeof(Elf64_Phdr) || program->n > SEGMENTS_MAX ||
	    (program->n != 0 && !read_segment(program, program->n - 1, &interpreter)))
		return CTX_PROGRAM_UNKNOWN;
	if (!find(program, PT_INTERP, &interpreter) || !find(program, PT_DYNAMIC, &dynamic))
		return CTX_PROGRAM_STATIC;
	n = interpreter.p_filesz < sizeof(loader) ? interpreter.p_filesz : sizeof(loader) - 1;
	if (!read_at(program->fd, interpreter.p_offset, loader, n))
		return CTX_PROGRAM_UNKNOWN;
	n = strlen(loader);
	if (n < strlen(LOADER) || strcmp(loader + n - strlen(LOADER), LOADER) != 0)
		return CTX_PROGRAM_OTHER_LIBC;
	return needs_sanitizer(program, &dynamic) ? CTX_PROGRAM_SANITIZED : CTX_PROGRAM_FITS;
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
		union {
			Elf64_Ehdr elf;
			char text[256];
		} head;
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
			result = check_elf(&program, &head.elf);
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
		[CTX_PROGRAM_UNKNOWN] = "its file cannot be read",
		[CTX_PROGRAM_STATIC] = "statically linked",
		[CTX_PROGRAM_PRIVILEGED] = "setuid or setgid",
		[CTX_PROGRAM_OTHER_LIBC] = "not made for glibc",
		[CTX_PROGRAM_OTHER_MACHINE] = "not a program of 64 bits of this machine",
		[CTX_PROGRAM_SANITIZED] = "built with a sanitizer, which replaces the allocator itself",
	};

	return reasons[program];
}
