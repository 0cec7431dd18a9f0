/*
 * DWARF reader: state for reading the units of one file, and the strings that they share.
 */
#ifndef CTX_SYMBOLS_DWARF_READER_H
#define CTX_SYMBOLS_DWARF_READER_H

#include "base/map64.h"
#include "base/strtab.h"
#include "symbols/dwarf_bounds.h"
#include "symbols/dwarf_file.h"

#define CTX_DWARF_NONE UINT32_MAX

struct ctx_dwarf_scope {      /* a namespace or class */
	Dwarf_Off begin, end; /* offsets of its DIEs */
	const char *name;     /* NULL: unnamed and not shown. Borrowed from libdw */
	uint32_t parent;      /* CTX_DWARF_NONE none */
};

/* State for reading units. Strings persist; the rest is for one unit at a time. */
struct ctx_dwarf_reader {
	struct ctx_dwarf_file *file;
	struct ctx_strtab strings;
	struct ctx_dwarf_bounds bounds;
	uint64_t scope_steps_left; /* also for the whole file */
	uint64_t text_left;	   /* limit for bytes of names: hostile ones may be suffixes of one another */

	Dwarf_Die skeleton, unit; /* the same except for split units */
	bool has_lines;		  /* of the current unit; false if there are too many */
	const char *folder;	  /* of the compilation; NULL unknown. Borrowed from libdw */
	struct ctx_map64 seen;	  /* libdw's pointer to a file name or DIE -> string id */
	struct ctx_dwarf_scope *scopes;
	size_t scope_n, scopes_cap;
	struct Dwarf_CU *scopes_of; /* their unit; NULL none */
};

void ctx_dwarf_reader_deinit(struct ctx_dwarf_reader *reader);

/* The id of a text; CTX_DWARF_NONE if the limit of names is reached. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_reader_text(struct ctx_dwarf_reader *reader, const char *text,
						     size_t n, uint32_t *ret_id, struct ctx_err *err);

/*
 * The id of a file name from libdw: prefixed with the compilation directory, without "./" and
 * doubled slashes.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_reader_path(struct ctx_dwarf_reader *reader, const char *name,
						     uint32_t *ret_id, struct ctx_err *err);

#endif
