/*
 * Kernel symbols from the text of /proc/kallsyms: lines "ADDRESS TYPE NAME [MODULE]".
 */
#ifndef CTX_SYMBOLS_KALLSYMS_H
#define CTX_SYMBOLS_KALLSYMS_H

#include "symbols/symset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Where a symbol lay when the addresses that are to be looked up were recorded. */
struct ctx_kallsyms_reference {
	const char *symbol;
	uint64_t address;
	bool exact; /* the symbol must lie there still */
};

/*
 * Adds the text symbols (t, T, w, W). `text` is cut into strings in place, and the set borrows
 * them: text[n] must be a zero byte. A line that does not follow the format is skipped.
 *
 * With a `reference` (NULL none) the kernel's symbols are moved by as much as the reference symbol
 * has moved (KASLR); those of modules, which move on their own, are left out then.
 *
 * Fails with CTX_E_FORMAT (no text symbol with an address: all zero for a reader without
 * permission), CTX_E_NOTFOUND (no reference symbol, or not where it must be), CTX_E_NOMEM; then
 * nothing is added.
 */
CTX_MUST_CHECK enum ctx_status ctx_kallsyms_add(char *text, size_t n,
						const struct ctx_kallsyms_reference *reference,
						struct ctx_symset *set, struct ctx_err *err);

#endif
