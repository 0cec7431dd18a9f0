/*
 * DWARF reader: what the units of one file are read with, and the strings that they share.
 */
#ifndef CTX_SYMBOLS_DWARF_READER_H
#define CTX_SYMBOLS_DWARF_READER_H

#include "base/map64.h"
#include "base/strtab.h"
#include "symbols/dwarf_bounds.h"
#include "symbols/dwarf_file.h"

#define CTX_DWARF_NONE UINT32_MAX

struct ctx_dwarf_scope {      /* a namespace or class */
	Dwarf_Off begin, end; /* offsets of the DIEs in it */
	const char *name;     /* NULL: shown by nothing. Borrowed from libdw */
	uint32_t parent;      /* CTX_DWARF_NONE none */
};

/* What units are read with. Strings stay; the rest serves one unit at a time. */
struct ctx_dwarf_reader {
	struct ctx_dwarf_file *file;
	struct ctx_strtab strings;
	struct ctx_dwarf_bounds bounds;
	uint64_t scope_steps_left; /* for the whole file, too */
	uint64_t text_left;	   /* bytes of names: hostile ones may be suffixes of one another */

	Dwarf_Die skeleton, unit; /* the same but for split units */
	bool has_lines;		  /* of the unit in hand; false where there are too many */
	const char *folder;	  /* of the compilation; NULL not known. Borrowed from libdw */
	struct ctx_map64 seen;	  /* libdw's pointer to a file name or DIE -> string id */
	struct ctx_dwarf_scope *scopes;
	size_t scope_n, scopes_cap;
	struct Dwarf_CU *scopes_of; /* whose they are; NULL nobody's */
};

void ctx_dwarf_reader_deinit(struct ctx_dwarf_reader *reader);

/* The id of a text; CTX_DWARF_NONE when there is too much of it all. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_reader_text(struct ctx_dwarf_reader *reader, const char *text,
						     size_t n, uint32_t *ret_id, struct ctx_err *err);

/*
 * The id of a file name of libdw's: with the folder of the compilation in front, without "./" and
 * doubled slashes.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_reader_path(struct ctx_dwarf_reader *reader, const char *name,
						     uint32_t *ret_id, struct ctx_err *err);

#endif
