/*
 * Kernel symbols from the text of /proc/kallsyms: lines "ADDRESS TYPE NAME [MODULE]".
 */
#ifndef CTX_SYMBOLS_KALLSYMS_H
#define CTX_SYMBOLS_KALLSYMS_H

#include "symbols/symset.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The address of a symbol at the time of the recording. */
struct ctx_kallsyms_reference {
	const char *symbol;
	uint64_t address;
	bool exact; /* the symbol must still have this address */
};

/*
 * Adds the text symbols (t, T, w, W). `text` is cut into strings in place, and the set borrows
 * them: text[n] must be a zero byte. A line that does not follow the format is skipped.
 *
 * With a `reference` (NULL none) the kernel's symbols are moved by the displacement of the
 * reference symbol (KASLR); symbols of modules, which move independently, are then dropped.
 *
 * Fails with CTX_E_FORMAT (no text symbol with an address: all zero for a reader without
 * permission), CTX_E_NOTFOUND (reference symbol missing or at another address), CTX_E_NOMEM; then
 * nothing is added.
 */
CTX_MUST_CHECK enum ctx_status ctx_kallsyms_add(char *text, size_t n,
						const struct ctx_kallsyms_reference *reference,
						struct ctx_symset *set, struct ctx_err *err);

#endif
