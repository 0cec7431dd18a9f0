/*
 * Functions reported by a just-in-time compiler as text: lines "START SIZE NAME", hexadecimal.
 */
#ifndef CTX_SYMBOLS_PERF_MAP_H
#define CTX_SYMBOLS_PERF_MAP_H

#include "symbols/symset.h"

#include <stddef.h>

/*
 * Adds the functions. `text` is cut into strings in place, and the set borrows them: text[n] must
 * be a zero byte. A line that does not follow the format, or whose function is empty, is skipped.
 * JIT code is also freed at run time, without a record: of functions at one address the last line
 * counts, and a function that begins inside that of a later line is older and is dropped.
 *
 * Fails with CTX_E_FORMAT (no function), CTX_E_LIMIT (more than 16 M functions), CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_perf_map_add(char *text, size_t n, struct ctx_symset *set,
						struct ctx_err *err);

#endif
