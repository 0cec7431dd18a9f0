/*
 * Kernel symbols from the text of /proc/kallsyms: lines "ADDRESS TYPE NAME [MODULE]".
 */
#ifndef CTX_SYMBOLS_KALLSYMS_H
#define CTX_SYMBOLS_KALLSYMS_H

#include "symbols/symset.h"

#include <stddef.h>

/*
 * Adds the text symbols (t, T, w, W). `text` is cut into strings in place, and the set borrows them: text[n]
 * must be a zero byte. A line that does not follow the format is skipped. Fails with CTX_E_FORMAT (no text
 * symbol with an address: all zero for a reader without permission), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_kallsyms_add(char *text, size_t n, struct ctx_symset *set,
						struct ctx_err *err);

#endif
