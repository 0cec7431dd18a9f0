/*
 * Demangled names: C++, Rust and D, through libiberty.
 */
#ifndef CTX_SYMBOLS_DEMANGLE_H
#define CTX_SYMBOLS_DEMANGLE_H

#include "base/buf.h"

#include <stdbool.h>

/*
 * Appends the demangled form of `name` to `out`. Appends nothing and returns false if the name is
 * not mangled, or if either form is too long: show it unchanged. Running out of memory sets `out`
 * failed (ctx_buf_check).
 */
bool ctx_demangle(const char *name, struct ctx_buf *out);

#endif
