/*
 * Names of functions. Only inside ctx_dwarf_file_run.
 */
#ifndef CTX_SYMBOLS_DWARF_NAMES_H
#define CTX_SYMBOLS_DWARF_NAMES_H

#include "symbols/dwarf_reader.h"

/* The id of a function's name: its linkage name, otherwise the plain one with its C++ scopes. */
CTX_MUST_CHECK enum ctx_status ctx_dwarf_reader_function(struct ctx_dwarf_reader *reader, Dwarf_Die *function,
							 uint32_t *ret_id, struct ctx_err *err);

#endif
