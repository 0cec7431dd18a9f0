/*
 * Names as a person writes them: C++, Rust and D, through libiberty.
 */
#ifndef CTX_SYMBOLS_DEMANGLE_H
#define CTX_SYMBOLS_DEMANGLE_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * Appends the demangled form of `name` to `out`. False (and nothing is appended) when the name is
 * not mangled, is too long, or its readable form would be: show it as it is. Memory that runs out
 * shows in `out` (ctx_buf_check).
 */
bool ctx_demangle(const char *name, struct ctx_buf *out);

#endif
