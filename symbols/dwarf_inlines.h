/*
 * Functions and inlined calls of one compilation unit. Only inside ctx_dwarf_file_run.
 */
#ifndef CTX_SYMBOLS_DWARF_INLINES_H
#define CTX_SYMBOLS_DWARF_INLINES_H

#include "symbols/dwarf_reader.h"
#include "symbols/dwarf_unit.h"

/*
 * Adds the nodes and places of the reader's unit. Damaged entries are skipped. Fails with
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_unit_read_inlines(struct ctx_dwarf_unit *unit,
							   struct ctx_dwarf_reader *reader,
							   struct ctx_err *err);

#endif
