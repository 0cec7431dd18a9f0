/*
 * Names that were changed: expressions whose matches in names are replaced before names are compared.
 */
#ifndef CTX_COMPARE_RENAMES_H
#define CTX_COMPARE_RENAMES_H

#include "base/buf.h"

#include <stddef.h>

struct ctx_renames; /* opaque */

/*
 * Each text is "RE=TEXT": a POSIX extended regular expression up to the first '=' ("\=" is that character), and what
 * replaces every match, with \1 to \9 for its groups, \0 or & for the whole, and a backslash before another character
 * for that itself. CTX_E_ARG: names the text and what is wrong. None: *ret is NULL.
 */
CTX_MUST_CHECK enum ctx_status ctx_renames_make(const char *const *texts, size_t n, struct ctx_renames **ret,
						struct ctx_err *err);
void ctx_renames_destroy(struct ctx_renames *renames); /* NULL: nothing */

/* Appends the name as all expressions, in order, rewrite it; `renames` NULL: as it is. */
void ctx_renames_put(const struct ctx_renames *renames, const char *name, size_t n, struct ctx_buf *out);

#endif
