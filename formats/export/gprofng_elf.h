/*
 * ELF files for the names of functions. 64-bit, little-endian.
 */
#ifndef CTX_FORMATS_EXPORT_GPROFNG_ELF_H
#define CTX_FORMATS_EXPORT_GPROFNG_ELF_H

#include "base/buf.h"
#include "formats/export/gprofng_object.h"
#include "model/export.h"

struct ctx_gpx_elf {
	const struct ctx_export_input *input;
	struct ctx_gpx_object *object; /* with symbols; segments are filled in */
	const char *build_id;	       /* hex, "" none */
	uint16_t machine;
};

/* Appends a symbol table, sections and what a program needs to be one, to a file of which only the segments, as holes, are there. Fills the segments. CTX_E_NOMEM, CTX_E_LIMIT, CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_gpx_elf_make(const struct ctx_gpx_elf *elf, const char *path,
						struct ctx_err *err);

/*
 * The file in `image`, with our symbols: appended behind it, with a table of sections that leaves out the symbols of its own, where separate
 * debug files are, and that there is a procedure linkage table (gprofng drops frames in it). CTX_END: it is no such file, or does not have all of the addresses;
 * nothing is written. Otherwise as above.
 */
CTX_MUST_CHECK enum ctx_status ctx_gpx_elf_copy(const struct ctx_gpx_elf *elf, struct ctx_buf *image,
						const char *path, struct ctx_err *err);

#endif
