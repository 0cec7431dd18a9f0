/*
 * ELF file: opened through libelf, with the properties that most users need.
 *
 *	path, or bytes --> class, byte order, machine | executable segments | executable sections | build id
 *	                   sections by name, decompressed if needed
 *
 * Files are read by section and not mapped: a file that shrinks meanwhile causes a read error, not
 * a signal. Everything in them is untrusted: ranges do not overflow, and a section is decompressed
 * only if its claimed size is possible.
 */
#ifndef CTX_ELF_ELF_FILE_H
#define CTX_ELF_ELF_FILE_H

#include "base/buf.h"
#include "base/buildid.h"
#include "base/err.h"

#include <gelf.h>
#include <stdbool.h>
#include <stdint.h>

struct ctx_elf_segment { /* executable PT_LOAD; ends do not overflow */
	uint64_t offset, address;
	uint64_t file_size, memory_size; /* bytes; not both are 0 */
};

struct ctx_elf_section {	/* executable */
	uint64_t address, size; /* size is not 0, the end does not overflow */
};

struct ctx_elf_file {	      /* all zero with fd -1 is a valid closed one */
	struct ctx_buf image; /* owned; of a file in memory whose bytes were moved here */
	int fd;		      /* -1: in memory */
	Elf *elf;
	uint16_t machine; /* e_machine */
	bool is_64, big_endian;
	char build_id[CTX_BUILDID_TEXT];
	struct ctx_elf_segment *segments; /* owned; in the order of the file */
	size_t n_segments, segments_cap;
	struct ctx_elf_section *sections; /* owned; by address */
	size_t n_sections, sections_cap;
};

/*
 * Opens a regular file; devices and pipes are refused. `file` is zeroed first; close it whatever
 * the result. Fails with CTX_E_NOTFOUND, CTX_E_PERM, CTX_E_IO, CTX_E_FORMAT, CTX_E_NOMEM.
 * O(headers).
 */
CTX_MUST_CHECK enum ctx_status ctx_elf_open_path(struct ctx_elf_file *file, const char *path,
						 struct ctx_err *err);

/* Opens `n` bytes in memory, which are borrowed until the file is closed. As above. */
CTX_MUST_CHECK enum ctx_status ctx_elf_open_bytes(struct ctx_elf_file *file, const void *bytes, size_t n,
						  struct ctx_err *err);

/*
 * Opens the bytes of a buffer, which are moved to `file`; the buffer is empty afterwards. As above.
 */
CTX_MUST_CHECK enum ctx_status ctx_elf_open_image(struct ctx_elf_file *file, struct ctx_buf *image,
						  struct ctx_err *err);

void ctx_elf_close(struct ctx_elf_file *file);

/* Moves an open file with what was read of it, and closes its descriptor: nothing more can be read. `from` is closed then. */
void ctx_elf_move(struct ctx_elf_file *from, struct ctx_elf_file *to);

/* CTX_E_FORMAT with libelf's last message. */
CTX_MUST_CHECK enum ctx_status ctx_elf_error(struct ctx_err *err);

/* The first section of a name with bytes in the file, or NULL. O(sections). */
Elf_Scn *ctx_elf_named_section(const struct ctx_elf_file *file, const char *name);

/* A section's name, or "". */
const char *ctx_elf_section_name(Elf *elf, const GElf_Shdr *header);

/*
 * The decompressed size of a section's contents; its own size if it is not compressed (by flag, or
 * as ".zdebug_*"). False: an impossible size, or an unreadable header.
 */
bool ctx_elf_unpacked_size(Elf_Scn *section, const GElf_Shdr *header, const char *name, uint64_t *ret);

/*
 * The contents of a section, decompressed; NULL: damaged, empty or larger than 2 GiB. Borrowed from
 * libelf.
 */
Elf_Data *ctx_elf_section_data(Elf *elf, Elf_Scn *section);

/* The executable section that holds an address, or NULL. O(log sections). */
const struct ctx_elf_section *ctx_elf_section_at(const struct ctx_elf_file *file, uint64_t address);

/* The address of a file offset. False: no segment has that byte. O(segments). */
bool ctx_elf_address(const struct ctx_elf_segment *segments, size_t n, uint64_t offset,
		     uint64_t *ret_address);

/* The file offset of an address of code. False: in no executable segment, or no byte of the file. O(segments). */
bool ctx_elf_offset(const struct ctx_elf_file *file, uint64_t address, uint64_t *ret_offset);

/*
 * Appends up to `n` bytes of code from an address on, as in the file: fewer at the end of the
 * segment or file. Fails with CTX_E_NOTFOUND (in no executable segment), CTX_E_IO, CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_elf_read_code(const struct ctx_elf_file *file, uint64_t address, size_t n,
						 struct ctx_buf *out, struct ctx_err *err);

#endif
