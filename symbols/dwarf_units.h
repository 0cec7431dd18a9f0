/*
 * DWARF units: which compilation unit an address belongs to, by the ranges that each unit states
 * itself. (.debug_aranges is not needed for that: clang writes none, and reading the header of a
 * unit costs a microsecond.) Units that state none are parsed, all of them, when an address is
 * asked for that no other unit has.
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
	struct ctx_rangemap stated; /* values are indices of items */
	struct ctx_rangemap
		unstated; /* the same for units that do not say where they are; filled at the first miss */
	bool all_read;	  /* it has been */
};

/* Lists the units. Only inside ctx_dwarf_file_run. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_units_list(struct ctx_dwarf_units *units,
						    struct ctx_dwarf_reader *reader, struct ctx_err *err);
void ctx_dwarf_units_deinit(struct ctx_dwarf_units *units);

struct ctx_dwarf_found {
	const struct ctx_dwarf_unit *unit; /* NULL: no unit has the address */
	uint64_t end;			   /* up to where the answer is the same */
};

/*
 * The unit of an address, read when it has not been. Runs libdw by itself. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_units_find(struct ctx_dwarf_units *units,
						    struct ctx_dwarf_reader *reader, uint64_t address,
						    struct ctx_dwarf_found *ret, struct ctx_err *err);

#endif
