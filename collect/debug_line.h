/*
 * Line tables: which source files are some addresses of a load object from?
 *
 * Runs the programs in .debug_line (DWARF 2 to 5, both widths) and keeps the files of the rows that cover an address; lines are
 * not looked at. What is relative is joined to the unit's directory: by version 5's own table, else by .debug_info.
 *
 * Nothing in the sections is trusted. Every step takes at least a byte of them, so the work is bounded by their size; damage costs the
 * program that it is in, or, in a length, what comes behind it.
 */
#ifndef CTX_COLLECT_DEBUG_LINE_H
#define CTX_COLLECT_DEBUG_LINE_H

#include "collect/debug_form.h"
#include "collect/debug_units.h"

struct ctx_code_range {
	uint64_t begin, end; /* virtual addresses */
};

struct ctx_debug_line_request {
	const struct ctx_debug_sections *sections;
	const struct ctx_debug_units *units; /* NULL: not read */
	const struct ctx_code_range
		*code; /* what comes from elsewhere is of functions that the linker left out */
	size_t n_code;
	const uint64_t *addresses; /* ascending */
	size_t n_addresses;
	bool all; /* the files of all rows, not only of `addresses` */
};

struct ctx_debug_line_stats {
	uint64_t programs, damaged, rows;
	uint64_t homeless; /* files that were due but whose directory is not known */
};

/* Called for each file that is due, an absolute path; the same path may come again (once for each program). A failure ends it. */
typedef enum ctx_status ctx_debug_line_fn(void *context, const char *path, struct ctx_err *err);

/* Some 100 MB of .debug_line a second. Fails with CTX_E_NOMEM and what `each` fails with. */
CTX_MUST_CHECK enum ctx_status ctx_debug_line_files(const struct ctx_debug_line_request *request,
						    ctx_debug_line_fn *each, void *context,
						    struct ctx_debug_line_stats *ret_stats,
						    struct ctx_err *err);

#endif
