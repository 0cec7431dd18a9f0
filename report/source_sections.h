/*
 * Sections of annotated source: the lines of one function in one file, or of one file.
 *
 *	subject --owners--> rows by (owner, file, line) --runs of equal (owner, file)--> sections, heaviest first
 *
 * A function has more than one section if part of its code is in an included file. Code of an
 * inlined function counts for the line of the call (inclusive), and for its own lines in their own
 * section.
 */
#ifndef CTX_REPORT_SOURCE_SECTIONS_H
#define CTX_REPORT_SOURCE_SECTIONS_H

#include "report/code_rows.h"
#include "report/subject.h"

struct ctx_source_section {
	uint32_t owner;			   /* of the subject */
	uint32_t file;			   /* CTX_NONE: only instructions without lines, or no rows */
	const struct ctx_line_total *rows; /* by line; borrowed from the lines; NULL: none */
	size_t n_rows;
	const struct ctx_line_total *no_line;	       /* NULL: none */
	uint64_t exclusive, inclusive;		       /* the sum; the largest of a line */
	uint64_t largest_exclusive, largest_inclusive; /* of a line, including code without a line number */
};

struct ctx_source_sections {
	struct ctx_line_rows lines;	     /* owned */
	struct ctx_source_section *sections; /* owned; by descending exclusive, then inclusive */
	size_t n;
};

CTX_MUST_CHECK enum ctx_status ctx_source_sections_build(const struct ctx_code_view *view,
							 const struct ctx_subject *subject,
							 struct ctx_source_sections *ret,
							 struct ctx_err *err);
void ctx_source_sections_deinit(struct ctx_source_sections *sections);

/*
 * Lines shown before and after a function, and around a line with weight where long runs are left
 * out.
 */
#define CTX_SOURCE_AROUND 2u
#define CTX_SOURCE_CONTEXT 20u

/* Whether a line has weight or samples; NULL has not. */
static inline bool ctx_line_has_weight(const struct ctx_line_total *row)
{
	return row != NULL && (row->sum.inclusive != 0 || row->sum.inclusive_samples != 0);
}

/* Marks in `marks` which of the `n` lines from `first` on have weight. Returns their number. */
size_t ctx_source_section_mark(const struct ctx_source_section *section, uint32_t first, size_t n,
			       bool *marks);

struct ctx_line_range {
	uint32_t first, last;
};

/*
 * The first and last line shown of a section with rows, in a file with `n_lines`, including
 * CTX_SOURCE_AROUND lines of context. A function extends from the line of its first instruction to
 * that of its last one, as far as `reader` knows its code; inlined code from elsewhere in the file
 * does not count.
 */
struct ctx_line_range ctx_source_section_view(const struct ctx_code_view *view,
					      const struct ctx_subject *subject,
					      const struct ctx_source_section *section, uint32_t n_lines);

#endif
