/*
 * Lines of a range of a text file, read in pieces.
 */
#ifndef CTX_FORMATS_CALLTRACE_CT_LINES_H
#define CTX_FORMATS_CALLTRACE_CT_LINES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_CT_LINE_MAX ((size_t)1 << 16) /* longer lines are cut there */

struct ctx_ct_line {
	const char *text; /* without the end of line; not terminated */
	size_t n;
	uint64_t number; /* from 1 */
	uint64_t offset; /* of its begin in the file */
	bool cut;	 /* it is longer than CTX_CT_LINE_MAX */
};

struct ctx_ct_lines {
	int fd;		     /* borrowed */
	const char *name;    /* borrowed; for messages */
	uint64_t offset;     /* of what comes after the buffer */
	uint64_t end_offset; /* of the range */
	char *buffer;	     /* owned */
	size_t at, n;	     /* of the buffer: not returned yet are those from `at` to `n` */
	uint64_t number;     /* of the last line */
	bool is_inside;	     /* the rest of the last line has to be passed first */
};

/* What is read: a range of an open file, whose first line has this number. */
struct ctx_ct_range {
	uint64_t begin_offset, end_offset;
	uint64_t first_line;
};

/* CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_ct_lines_init(struct ctx_ct_lines *lines, int fd, const char *name,
						 const struct ctx_ct_range *range, struct ctx_err *err);
void ctx_ct_lines_deinit(struct ctx_ct_lines *lines);

/* The next line, valid until the next call; CTX_END: no more. A file that has become shorter just ends. CTX_E_IO. */
CTX_MUST_CHECK enum ctx_status ctx_ct_lines_next(struct ctx_ct_lines *lines, struct ctx_ct_line *ret,
						 struct ctx_err *err);

#endif
