/*
 * Scopes of one unit: namespaces and classes by the range of DIEs inside them, because a DIE has no
 * link to its parent. Used for the names of functions without a linkage name (dwarf_names.c).
 */
#ifndef CTX_SYMBOLS_DWARF_SCOPE_H
#define CTX_SYMBOLS_DWARF_SCOPE_H

#include "base/buf.h"
#include "symbols/dwarf_reader.h"

/*
 * Appends "ns::class::" for a DIE. Reads the unit's scopes if the unit differs from the last call.
 * Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_scope_put(struct ctx_dwarf_reader *reader, Dwarf_Die *die,
						   struct ctx_buf *out, struct ctx_err *err);

#endif
