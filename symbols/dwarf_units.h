/*
 * DWARF units: which compilation unit an address belongs to, by the ranges in each unit.
 * (.debug_aranges is not used: clang writes none, and reading the header of a unit costs a
 * microsecond.) Units without ranges are all parsed at the first look-up of an address that no
 * other unit has.
 */
#ifndef CTX_SYMBOLS_DWARF_UNITS_H
#define CTX_SYMBOLS_DWARF_UNITS_H

#include "symbols/dwarf_reader.h"
#include "symbols/dwarf_unit.h"

struct ctx_dwarf_units_item {
	Dwarf_Off offset;	     /* of the unit's DIE */
	struct ctx_dwarf_unit *unit; /* owned; NULL: not read yet */
	bool has_ranges;
};

struct ctx_dwarf_units { /* all zero is a valid empty one */
	struct ctx_dwarf_units_item *items;
	size_t n, cap;
	struct ctx_rangemap stated;   /* values are indices of items */
	struct ctx_rangemap unstated; /* the same for units without ranges; filled at the first miss */
	bool all_read;		      /* it has been filled */
};

/* Lists the units. Only inside ctx_dwarf_file_run. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_units_list(struct ctx_dwarf_units *units,
						    struct ctx_dwarf_reader *reader, struct ctx_err *err);
void ctx_dwarf_units_deinit(struct ctx_dwarf_units *units);

struct ctx_dwarf_found {
	const struct ctx_dwarf_unit *unit; /* NULL: no unit has the address */
	uint64_t end;			   /* the answer is the same up to here */
};

/*
 * The unit of an address, read at its first use. Calls ctx_dwarf_file_run itself. Fails with
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_units_find(struct ctx_dwarf_units *units,
						    struct ctx_dwarf_reader *reader, uint64_t address,
						    struct ctx_dwarf_found *ret, struct ctx_err *err);

#endif
