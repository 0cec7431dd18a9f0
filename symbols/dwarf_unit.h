/*
 * DWARF unit: one compilation unit, parsed (symbols/dwarf_unit_read.h).
 *
 *	address --places--> node --parent--> node ... --> node of the real function (no parent)
 *	        --rows----> file and line of the innermost
 *
 * A node is a function with code, or one inlined call (with its file and line). All strings are ids
 * of the reader's table; CTX_DWARF_NONE (symbols/dwarf_reader.h) means no node and no string.
 */
#ifndef CTX_SYMBOLS_DWARF_UNIT_H
#define CTX_SYMBOLS_DWARF_UNIT_H

#include "base/map64.h"
#include "base/rangemap.h"
#include "base/strtab.h"
#include "symbols/dwarf_bounds.h"
#include "symbols/dwarf_file.h"

#include <stddef.h>
#include <stdint.h>

struct ctx_dwarf_node {
	uint32_t
		parent; /* the node it is inlined into; CTX_DWARF_NONE: not inlined. Always a smaller index */
	uint32_t name;	/* linkage name, or the plain one; CTX_DWARF_NONE without a parent */
	uint32_t call_file; /* of the call in the parent; CTX_DWARF_NONE: unknown */
	uint32_t call_line; /* 0: unknown */
};

struct ctx_dwarf_row { /* up to the next one's address */
	uint64_t address;
	uint32_t file; /* CTX_DWARF_NONE: no line */
	uint32_t line; /* 0: unknown */
};

struct ctx_dwarf_unit { /* all zero is valid, without code */
	struct ctx_dwarf_node *nodes;
	size_t node_n, nodes_cap;
	struct ctx_rangemap places; /* values are indices of nodes */
	struct ctx_dwarf_row *rows; /* by address */
	size_t row_n, rows_cap;
};

void ctx_dwarf_unit_deinit(struct ctx_dwarf_unit *unit);

/*
 * Number of rows that begin at or before an address: the row before that index covers it. O(log
 * rows).
 */
size_t ctx_dwarf_unit_rows_until(const struct ctx_dwarf_unit *unit, uint64_t address);

#endif
