/*
 * Names of functions for formats that identify a function by its name alone.
 *
 * Every function of the profile gets a unique, non-empty name: valid UTF-8 on one line, without
 * surrounding spaces. Most keep their own name. Functions that share one get their object appended
 * ("clock_gettime [vdso]"), if that is not enough their offset, and as the last resort their number
 * in the profile. All functions count, not only the selected ones, so that a function has the same
 * name in the files of all intervals. No function is called CTX_EXPORT_TOTAL or
 * CTX_EXPORT_NO_STACK: these are reserved for the writers.
 */
#ifndef CTX_FORMATS_EXPORT_EXPORT_NAMES_H
#define CTX_FORMATS_EXPORT_EXPORT_NAMES_H

#include "base/buf.h"
#include "formats/export/export_used.h"
#include "model/profile.h"

#define CTX_EXPORT_TOTAL "<Total>" /* caller of the root function of a stack */

struct ctx_export_names {
	struct ctx_buf bytes; /* zero-terminated names, and their inputs */
	size_t *begins;	      /* owned; by function: where its name begins */
};

/* O(n log n) comparisons. Fails with CTX_E_NOMEM; then there is nothing to release. */
CTX_MUST_CHECK enum ctx_status ctx_export_names_init(struct ctx_export_names *names,
						     const struct ctx_profile *profile, struct ctx_err *err);
void ctx_export_names_deinit(struct ctx_export_names *names);

/* Borrowed; lives as long as `names`. The entry after the last function is CTX_EXPORT_NO_STACK. */
const char *ctx_export_names_get(const struct ctx_export_names *names, uint32_t function);

#endif
