/*
 * Which lines of two versions of a file are the same.
 *
 *	A		B
 *	int n = 0;  --	int n = 0;	equal, and the only such line of both: wherever it is
 *	n += f();   --	n += f();	equal, and next to lines that are the same
 *	n += g(1);  --	n += g(1, 2);	alike, between the same lines, in the same order
 *	return n;   \	log(n);		new
 *		     `-	return n;
 *
 * Space at both ends of a line does not count.
 */
#ifndef CTX_COMPARE_LINE_MATCHING_H
#define CTX_COMPARE_LINE_MATCHING_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

#define CTX_LINES_MAX 200000u /* of a file; behind them lines match nothing */

struct ctx_line_text {
	const char *text; /* borrowed; need not end with a newline */
	size_t n;
};

/*
 * *ret is owned by the caller (free): of `a`, by number of the line, from 1, the line of `b`, 0 none; *ret_n is one more
 * than the last line. No two lines of `a` are the same of `b`. O(lines), and for each place that was edited the product
 * of its lines on both sides, if that is no more than a million. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_lines_match(struct ctx_line_text a, struct ctx_line_text b, uint32_t **ret,
					       size_t *ret_n, struct ctx_err *err);

/* How alike two lines are, from 0 to 1: the share of pairs of neighbouring characters that both have. */
double ctx_line_likeness(struct ctx_line_text a, struct ctx_line_text b);

#endif
