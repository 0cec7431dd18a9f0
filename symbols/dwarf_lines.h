/*
 * Line table of one compilation unit. Only inside ctx_dwarf_file_run.
 */
#ifndef CTX_SYMBOLS_DWARF_LINES_H
#define CTX_SYMBOLS_DWARF_LINES_H

#include "symbols/dwarf_reader.h"
#include "symbols/dwarf_unit.h"

/* Adds the rows of the reader's unit, if it has lines that may be read. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_unit_read_lines(struct ctx_dwarf_unit *unit,
							 struct ctx_dwarf_reader *reader,
							 struct ctx_err *err);

#endif
