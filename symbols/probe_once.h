/*
 * Sites of coverage: the instructions of which it is to be known whether they were ever executed.
 *
 *	line tables --------------> first instructions of lines ----+
 *	instructions (capstone) --> targets of jumps, what follows  +--> sites, by address
 *	symbols ------------------> functions without lines: entry -+
 *
 * A site is the begin of an instruction for certain: in a function whose line table and instructions do not agree, only
 * lines that do are sites, and of functions without lines only the entry is one, where the symbol table says that it is a function.
 * Between two sites of a line control neither comes in nor leaves, except by calls, signals and jumps through tables.
 */
#ifndef CTX_SYMBOLS_PROBE_ONCE_H
#define CTX_SYMBOLS_PROBE_ONCE_H

#include "elf/elf_file.h"
#include "symbols/source_map.h"
#include "symbols/symtab.h"

struct ctx_probe_once {
	const struct ctx_elf_file *image;
	struct ctx_symtab *symbols;
	struct ctx_source_map *map;
	const char *wanted; /* name or pattern of functions (symbols/probe_names.h) */
};

typedef enum ctx_status (*ctx_probe_once_fn)(void *context, uint64_t address, struct ctx_err *err);

/*
 * Calls `each` for every site, function by function; an address may come twice. O(instructions). Fails with CTX_E_ARG (no processor
 * whose sites are known), CTX_E_NOMEM, and what `each` fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_probe_once_sites(const struct ctx_probe_once *once, ctx_probe_once_fn each,
						    void *context, struct ctx_err *err);

#endif
