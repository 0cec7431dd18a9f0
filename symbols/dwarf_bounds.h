/*
 * DWARF bounds: how much libdw would do and keep, counted before it is asked.
 *
 * libdw reads a list of ranges, a line table or a table of abbreviations from end to end as soon as
 * something of it is wanted, for each unit or DIE that names it again, and few bytes of a file may
 * be named by very many. So a file has a budget for each: more than a file of its size could need
 * without sharing.
 */
#ifndef CTX_SYMBOLS_DWARF_BOUNDS_H
#define CTX_SYMBOLS_DWARF_BOUNDS_H

#include "base/err.h"

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/*
 * Sections by kind; those of a split unit's file are others. All zero: looked for when they are
 * needed.
 */
struct ctx_dwarf_section {
	Elf *elf; /* whose it is; NULL: not looked for yet */
	const uint8_t *bytes;
	size_t n;
};

struct ctx_dwarf_bounds {
	uint64_t ranges_left, rows_left; /* of the whole file */
	struct ctx_dwarf_section ranges, rnglists, lines;
};

/* Sets the budgets of a file with so many bytes of debug information. */
void ctx_dwarf_bounds_init(struct ctx_dwarf_bounds *bounds, uint64_t debug_bytes);

/*
 * Forgets the sections: to be called before a unit, because split units' files come and go with
 * libdw's handle.
 */
void ctx_dwarf_bounds_forget(struct ctx_dwarf_bounds *bounds);

/*
 * Whether dwarf_ranges may be called for a DIE, until its end; takes the list's entries, or 1, from
 * the budget. `skeleton` is the unit in the main file: lists of version 4 are there even when the
 * DIE is in a split unit.
 */
bool ctx_dwarf_bounds_take_ranges(struct ctx_dwarf_bounds *bounds, Dwarf_Die *die, Dwarf_Die *skeleton);

/*
 * Whether dwarf_getsrclines and dwarf_getsrcfiles may be called for a unit; takes the rows of its
 * table from the budget. `*ret_bytes`: roughly what libdw will keep of it.
 */
bool ctx_dwarf_bounds_take_lines(struct ctx_dwarf_bounds *bounds, Dwarf_Die *unit, uint64_t *ret_bytes);

/*
 * Whether a file may be used at all: its strings end, and the abbreviations of all its units are no
 * more than so many bytes of debug information need. Fails with CTX_E_FORMAT, CTX_E_LIMIT.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_bounds_check(Dwarf *dwarf, uint64_t debug_bytes,
						      struct ctx_err *err);

#endif
