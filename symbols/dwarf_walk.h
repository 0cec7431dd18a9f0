/*
 * Walk over the DIEs of one unit in the order of the file: linear in the size of the unit, with or
 * without DW_AT_sibling, and without recursion.
 *
 *	struct ctx_dwarf_walk walk;
 *	bool more = ctx_dwarf_walk_begin(&walk, &unit_die);
 *	while (more)
 *		more = ctx_dwarf_walk_next(&walk, is_worth_it(&walk.die));
 */
#ifndef CTX_SYMBOLS_DWARF_WALK_H
#define CTX_SYMBOLS_DWARF_WALK_H

#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdint.h>

#define CTX_DWARF_DEPTH_MAX 512 /* children at this depth and below are skipped */

struct ctx_dwarf_walk {
	Dwarf_Die die;
	const uint8_t *end; /* of the unit */
	unsigned depth;	    /* of `die`: 0 is the unit itself; below CTX_DWARF_DEPTH_MAX */
	bool damaged;	    /* set when the walk ended before the end of the unit */
};

/* Starts at the unit's own DIE. False: unreadable. */
bool ctx_dwarf_walk_begin(struct ctx_dwarf_walk *walk, const Dwarf_Die *unit);

/*
 * Moves to the first child (`into`, if there is one), otherwise to the next DIE after this one and
 * its children. False: no more DIEs.
 */
bool ctx_dwarf_walk_next(struct ctx_dwarf_walk *walk, bool into);

#endif
