/*
 * Function names as users type them: the whole name, the linkage name, or the short name.
 *
 *	std::vector<int>::push_back(int const&)		whole
 *	_ZNSt6vectorIiSaIiEE9push_backERKi		linkage
 *	push_back, vector<int>::push_back		short: no parameters, any part of the scope; main.work: work
 */
#ifndef CTX_REPORT_FUNCTION_NAMES_H
#define CTX_REPORT_FUNCTION_NAMES_H

#include "base/buf.h"
#include "base/err.h"
#include "model/profile.h"

#include <stdbool.h>
#include <stddef.h>

/* Bytes of the name without the " (inlined)" of inlined instances. */
size_t ctx_function_plain_length(const struct ctx_function_info *function);

/*
 * Whether a function passes the filter: its displayed name (with or without " (inlined)"), linkage
 * name or short name is equal, or a name of a part that is folded into it. NULL: every function
 * passes.
 */
bool ctx_function_matches(const struct ctx_profile *profile, uint32_t function, const char *filter);

/*
 * Appends the shortest name that only this function passes (its inlined instances too): the last
 * component, with template arguments, with more of its scope, the linkage name, or the whole name.
 * O(functions).
 */
void ctx_function_put_short(const struct ctx_profile *profile, uint32_t function, struct ctx_buf *buf);

/* Whether a function of a call stack (a node of the CCT) passes. O(depth). */
bool ctx_stack_has_function(const struct ctx_profile *profile, uint32_t stack, const char *filter);

/* CTX_E_NOTFOUND: there is a filter and no function of the experiment passes. */
CTX_MUST_CHECK enum ctx_status ctx_function_check(const struct ctx_profile *profile, const char *filter,
						  struct ctx_err *err);

#endif
