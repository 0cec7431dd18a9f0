/*
 * What --diff compares, by the names of reports.
 */
#ifndef CTX_CTXAN_COMPARED_H
#define CTX_CTXAN_COMPARED_H

#include "compare/diff_links.h"

#include <stdbool.h>

/* A table of a comparison. */
struct ctx_compared {
	const char *report;
	enum ctx_diff_subject subject;
	const char *metric; /* its word; NULL: the selected one */
	const char *title;  /* "heap: bytes allocated"; NULL: the subject's */
};

/* The tables of a report; *ret_n is their number, 0 for a report that is not compared. */
const struct ctx_compared *ctx_compared_of(const char *report, size_t *ret_n);

static inline bool ctx_comparing_has(const char *report)
{
	size_t n;

	(void)ctx_compared_of(report, &n);
	return n != 0;
}

#endif
