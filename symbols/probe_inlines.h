/*
 * Where calls of a function are inlined: the first instruction of each inlined call.
 */
#ifndef CTX_SYMBOLS_PROBE_INLINES_H
#define CTX_SYMBOLS_PROBE_INLINES_H

#include "elf/file_request.h"

#include "base/err.h"

#include <stdint.h>

typedef enum ctx_status (*ctx_probe_inline_fn)(void *context, uint64_t address, const char *name,
					       struct ctx_err *err);

/*
 * Calls `each` for every inlined call of a function of this name (symbols/probe_names.h), in the order of the debug
 * information; an address can come twice. Without debug information there are none. Damage ends a unit. O(debug
 * information). Fails with CTX_E_NOMEM, and what `each` fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_probe_inlines(const struct ctx_file_request *files, const char *wanted,
						 ctx_probe_inline_fn each, void *context,
						 struct ctx_err *err);

#endif
