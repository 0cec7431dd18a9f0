/*
 * Reads one compilation unit: its inlined calls (dwarf_inlines) and its lines (dwarf_lines).
 */
#ifndef CTX_SYMBOLS_DWARF_UNIT_READ_H
#define CTX_SYMBOLS_DWARF_UNIT_READ_H

#include "symbols/dwarf_reader.h"
#include "symbols/dwarf_unit.h"

/*
 * Reads the unit whose DIE is at an offset. Only inside ctx_dwarf_file_run. Data that is damaged or
 * exceeds the bounds is skipped. Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_unit_read(struct ctx_dwarf_unit *unit,
						   struct ctx_dwarf_reader *reader, Dwarf_Off offset,
						   struct ctx_err *err);

#endif
