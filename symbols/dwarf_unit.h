/*
 * DWARF unit: one compilation unit taken apart.
 *
 *	address --places--> node --parent--> node ... --> node of the real function (no parent)
 *	        --rows----> file and line of the innermost
 *
 * A node is a function with code, or one place where a function is inlined (with the file and line of that call). All
 * strings are ids of the reader's table.
 */
#ifndef CTX_SYMBOLS_DWARF_UNIT_H
#define CTX_SYMBOLS_DWARF_UNIT_H

#include "base/map64.h"
#include "base/rangemap.h"
#include "base/strtab.h"
#include "symbols/dwarf_bounds.h"
#include "symbols/dwarf_file.h"

#define CTX_DWARF_NONE UINT32_MAX

struct ctx_dwarf_node {
	uint32_t parent; /* into which it is inlined; CTX_DWARF_NONE: not inlined. Always a smaller index */
	uint32_t name;	 /* linkage name, or the plain one; CTX_DWARF_NONE where there is no parent */
	uint32_t call_file; /* of the call in the parent; CTX_DWARF_NONE: not known */
	uint32_t call_line; /* 0: not known */
};

struct ctx_dwarf_row { /* up to the next one's address */
	uint64_t address;
	uint32_t file; /* CTX_DWARF_NONE: no line */
	uint32_t line; /* 0: not known */
};

struct ctx_dwarf_unit { /* all zero is one without code */
	struct ctx_dwarf_node *nodes;
	size_t node_n, nodes_cap;
	struct ctx_rangemap places; /* values are indices of nodes */
	struct ctx_dwarf_row *rows; /* by address */
	size_t row_n, rows_cap;
};

/* What units are read with. Strings stay; the rest serves one unit at a time. */
struct ctx_dwarf_reader {
	struct ctx_dwarf_file *file;
	struct ctx_strtab strings;
	struct ctx_dwarf_bounds bounds;
	uint64_t scope_steps_left; /* for the whole file, too */
	uint64_t text_left;	   /* bytes of names: hostile ones may be the ends of one another */

	Dwarf_Die skeleton, unit; /* the same but for split units */
	bool has_lines;		  /* of the unit in hand; too many are none */
	const char *folder;	  /* of the compilation; NULL not known. Borrowed from libdw */
	struct ctx_map64 seen;	  /* libdw's pointer to a file name or DIE -> string id */
	struct ctx_dwarf_scope *scopes;
	size_t scope_n, scopes_cap;
	struct Dwarf_CU *scopes_of; /* whose they are; NULL nobody's */
};

void ctx_dwarf_reader_deinit(struct ctx_dwarf_reader *reader);

/*
 * Reads the unit whose DIE is at an offset. Only inside ctx_dwarf_file_run. What is damaged or beyond the bounds is left
 * out. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_unit_read(struct ctx_dwarf_unit *unit,
						   struct ctx_dwarf_reader *reader, Dwarf_Off offset,
						   struct ctx_err *err);
void ctx_dwarf_unit_deinit(struct ctx_dwarf_unit *unit);

/* How many rows begin at or before an address: the one before that index is the address's own. O(log rows). */
size_t ctx_dwarf_unit_rows_until(const struct ctx_dwarf_unit *unit, uint64_t address);

/* The parts of ctx_dwarf_unit_read: dwarf_inlines.c, dwarf_lines.c. */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_unit_read_inlines(struct ctx_dwarf_unit *unit,
							   struct ctx_dwarf_reader *reader,
							   struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_dwarf_unit_read_lines(struct ctx_dwarf_unit *unit,
							 struct ctx_dwarf_reader *reader,
							 struct ctx_err *err);

/* The id of a text; CTX_DWARF_NONE when there is too much of it all. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_reader_text(struct ctx_dwarf_reader *reader, const char *text,
						     size_t n, uint32_t *ret_id, struct ctx_err *err);

/* The id of a file name of libdw's: with the folder of the compilation in front, without "./" and doubled slashes. */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_reader_path(struct ctx_dwarf_reader *reader, const char *name,
						     uint32_t *ret_id, struct ctx_err *err);

/* The id of a function's name (dwarf_names.c): its linkage name, else the plain one with its C++ scopes. */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_reader_function(struct ctx_dwarf_reader *reader, Dwarf_Die *function,
							 uint32_t *ret_id, struct ctx_err *err);

#endif
