/*
 * The lines of a comparison (compare/diff_links.h): a line of a function, on both sides the same where the texts of
 * the file say so (compare/line_matching.h), otherwise where its number is.
 *
 * Files are the same by their names without directories. A name that is of several files on a side has no text, and
 * neither has a file of which one side did not keep it.
 */
#ifndef CTX_COMPARE_DIFF_LINES_H
#define CTX_COMPARE_DIFF_LINES_H

#include "compare/diff_links.h"

/* Makes the items of all recordings and links raw stacks to them. Errors as of ctx_diff_items_make; CTX_E_FORMAT: ids. */
CTX_MUST_CHECK enum ctx_status ctx_diff_lines_link(const struct ctx_diff_items_spec *spec,
						   struct ctx_diff_items *items, struct ctx_err *err);

#endif
