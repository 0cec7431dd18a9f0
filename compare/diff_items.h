/*
 * The items of a comparison (compare/diff_links.h), by subject.
 */
#ifndef CTX_COMPARE_DIFF_ITEMS_H
#define CTX_COMPARE_DIFF_ITEMS_H

#include "compare/diff_links.h"

/* CTX_E_ARG: a recording lacks what the subject needs. CTX_E_NOMEM, and what a source fails with. O(stacks * depth). */
CTX_MUST_CHECK enum ctx_status ctx_diff_items_make(const struct ctx_diff_items_spec *spec,
						   struct ctx_diff_items *ret, struct ctx_err *err);

#endif
