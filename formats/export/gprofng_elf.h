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
	struct ctx_gpx_object *object; /* with symbols; the writer fills in the segments */
	const char *build_id;	       /* hex, "" none */
	uint16_t machine;
};

/*
 * Builds a synthetic file: headers, segments as holes with the known code, symbol table and
 * sections. Sets object->segments. CTX_E_NOMEM, CTX_E_LIMIT, CTX_E_IO.
 */
CTX_MUST_CHECK enum ctx_status ctx_gpx_elf_make(const struct ctx_gpx_elf *elf, const char *path,
						struct ctx_err *err);

/*
 * Copies the file in `image` and appends our symbols, and a section table without its own symbols,
 * links to separate debug files and procedure linkage table (gprofng drops frames in it). CTX_END:
 * not such a file, or it lacks some of the addresses; nothing is written. Otherwise as above.
 */
CTX_MUST_CHECK enum ctx_status ctx_gpx_elf_copy(const struct ctx_gpx_elf *elf, struct ctx_buf *image,
						const char *path, struct ctx_err *err);

#endif
