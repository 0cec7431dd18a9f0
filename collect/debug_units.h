/*
 * Directories of compilation units: what the names in a line table of DWARF 2 to 4 are relative to stands in .debug_info, in the first
 * entry of the unit that names the line table.
 */
#ifndef CTX_COLLECT_DEBUG_UNITS_H
#define CTX_COLLECT_DEBUG_UNITS_H

#include "collect/debug_form.h"

struct ctx_debug_unit {
	uint64_t line;		     /* offset of its table in .debug_line */
	struct ctx_debug_bytes path; /* of its directory; points into a section */
};

struct ctx_debug_units {	      /* all zero is a valid empty one */
	struct ctx_debug_unit *units; /* by `line`; owned */
	size_t n, cap;
};

/*
 * Reads the head of each unit. Damage ends the reading; what was read is kept. O(units), and limited: a file that makes each
 * unit's abbreviations costly to find is read in part. Fails with CTX_E_NOMEM; deinit is due then too.
 */
CTX_MUST_CHECK enum ctx_status ctx_debug_units_read(struct ctx_debug_units *units,
						    const struct ctx_debug_sections *sections,
						    struct ctx_err *err);
void ctx_debug_units_deinit(struct ctx_debug_units *units);

/* The directory for a line table; at NULL: not known. O(log n). */
struct ctx_debug_bytes ctx_debug_units_find(const struct ctx_debug_units *units, uint64_t line);

#endif
