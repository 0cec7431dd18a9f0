/*
 * Debug files: the ELF files of one load object, and where they are searched for.
 *
 * An object has an *image* (the file that was mapped: its code, .dynsym, .eh_frame) and possibly a
 * *debug file* beside it (.symtab, DWARF). They are searched for in this order, and used only if
 * the build id matches (debug link: the checksum):
 *
 *	image	archived copy; CACHE/.build-id/xx/yyyy/{elf,vdso}; the file at its own path; debuginfod ("executable")
 *	debug	the image, if it has the wanted sections; CACHE/.../debug; ROOT/.build-id/xx/yyyy.debug;
 *		.gnu_debuglink: beside the image, in .debug/ beside it, ROOT/path; debuginfod ("debuginfo")
 *
 * ROOT is /usr/lib/debug. debuginfod is queried if DEBUGINFOD_URLS is set, through its client
 * library, which is loaded at run time and so is not a dependency.
 */
#ifndef CTX_ELF_DEBUG_FILES_H
#define CTX_ELF_DEBUG_FILES_H

#include "base/buf.h"
#include "elf/elf_file.h"
#include "elf/file_request.h"

/* A file found: the `path` of one that can be opened, or its bytes (a decompressed archive). */
struct ctx_found_file { /* all zero is a valid empty one */
	char *path;	/* owned; NULL: see bytes */
	struct ctx_buf bytes;
	const char *origin; /* "archive", or a path; lives as long as this */
};

void ctx_found_file_deinit(struct ctx_found_file *file);

/*
 * The image of an object. Fails with CTX_E_NOTFOUND (the message says why each candidate was
 * rejected), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_debug_files_image(const struct ctx_file_request *request,
						     struct ctx_found_file *ret, struct ctx_err *err);

/* The file with an object's DWARF (.debug_info). As above. */
CTX_MUST_CHECK enum ctx_status ctx_debug_files_dwarf(const struct ctx_file_request *request,
						     struct ctx_found_file *ret, struct ctx_err *err);

/* The image of an object, opened; written only on success, then the caller closes it. As above. */
CTX_MUST_CHECK enum ctx_status ctx_debug_files_open_image(const struct ctx_file_request *request,
							  struct ctx_elf_file *ret, struct ctx_err *err);

#endif
