/*
 * DWARF bounds: time and memory that libdw would need, computed before it is called.
 *
 * libdw reads a whole list of ranges, line table or abbreviation table at the first access to it,
 * again for each unit or DIE that refers to it, and many of these may refer to the same few bytes.
 * So a file has a budget for each: more than a file of its size needs without sharing.
 */
#ifndef CTX_SYMBOLS_DWARF_BOUNDS_H
#define CTX_SYMBOLS_DWARF_BOUNDS_H

#include "base/err.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Sections by kind; the file of a split unit has its own. All zero: looked up on demand. */
struct ctx_dwarf_section {
	Elf *elf; /* file of the sections; NULL: not looked up yet */
	const uint8_t *bytes;
	size_t n;
};

struct ctx_dwarf_bounds {
	uint64_t ranges_left, rows_left; /* of the whole file */
	struct ctx_dwarf_section ranges, rnglists, lines;
};

/* Sets the budgets of a file with this many bytes of debug information. */
void ctx_dwarf_bounds_init(struct ctx_dwarf_bounds *bounds, uint64_t debug_bytes);

/*
 * Forgets the sections: call it before each unit, because files of split units live only as long as
 * libdw's handle.
 */
void ctx_dwarf_bounds_forget(struct ctx_dwarf_bounds *bounds);

/*
 * Whether dwarf_ranges may be called for a DIE, until its end; takes the list's entries, or 1, from
 * the budget. `skeleton` is the unit in the main file: version 4 lists are in its file even if the
 * DIE is in a split unit.
 */
bool ctx_dwarf_bounds_take_ranges(struct ctx_dwarf_bounds *bounds, Dwarf_Die *die, Dwarf_Die *skeleton);

/*
 * Whether dwarf_getsrclines and dwarf_getsrcfiles may be called for a unit; takes the rows of its
 * table from the budget. `*ret_bytes`: memory that libdw will keep for it, roughly.
 */
bool ctx_dwarf_bounds_take_lines(struct ctx_dwarf_bounds *bounds, Dwarf_Die *unit, uint64_t *ret_bytes);

/*
 * Whether a file may be used at all: its strings are terminated, and the abbreviations of all units
 * are in proportion to the size of the debug information. Fails with CTX_E_FORMAT, CTX_E_LIMIT.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_bounds_check(Dwarf *dwarf, uint64_t debug_bytes,
						      struct ctx_err *err);

#endif
