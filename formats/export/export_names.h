/*
 * Names of functions for formats that know a function by its name alone.
 *
 * Every function of the profile gets a name that is valid UTF-8 on one line, not empty, without spaces around it, and
 * that no other function has. Most keep the name that they have. Functions that share one get their object behind it
 * ("clock_gettime [vdso]"), where that is not enough their offset, and their number in the profile as the last resort.
 * All functions count, not only those that were selected: a function has the same name in every interval's file.
 * No function is called CTX_EXPORT_TOTAL or CTX_EXPORT_NO_STACK: writers have a use for these.
 */
#ifndef CTX_FORMATS_EXPORT_EXPORT_NAMES_H
#define CTX_FORMATS_EXPORT_EXPORT_NAMES_H

#include "base/buf.h"
#include "formats/export/export_used.h"
#include "model/profile.h"

#define CTX_EXPORT_TOTAL "<Total>" /* what called the first function of a stack */

struct ctx_export_names {
	struct ctx_buf bytes; /* zero-terminated names, and what they were made from */
	size_t *begins;	      /* owned; by function: where its name begins */
};

/* O(n log n) comparisons. Fails with CTX_E_NOMEM; there is nothing to release then. */
CTX_MUST_CHECK enum ctx_status ctx_export_names_init(struct ctx_export_names *names,
						     const struct ctx_profile *profile, struct ctx_err *err);
void ctx_export_names_deinit(struct ctx_export_names *names);

/* Borrowed; as long as `names`. The one behind the last function is CTX_EXPORT_NO_STACK. */
const char *ctx_export_names_get(const struct ctx_export_names *names, uint32_t function);

#endif
