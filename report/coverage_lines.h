/*
 * Coverage (ctxrec --indicator '*:once'): lines of source with their sites, and how many of these were executed.
 *
 *	samples of the metrics "sites" and of the executions --leaf location--> function, file, line --> rows
 *
 * A line that is inlined into several functions, or is of several instances of a template, has a row for each function of a name.
 */
#ifndef CTX_REPORT_COVERAGE_LINES_H
#define CTX_REPORT_COVERAGE_LINES_H

#include "model/report_source.h"

struct ctx_coverage_line {
	uint32_t function; /* CTX_NONE: unknown */
	uint32_t file;	   /* of struct ctx_code; CTX_NONE: the function has no lines here */
	uint32_t line;	   /* 0 without a file */
	uint64_t sites, executed;
};

struct ctx_coverage_lines {
	struct ctx_coverage_line *items; /* owned; by path of the file, line, function */
	size_t n;
	const struct ctx_code *code; /* borrowed from the source; NULL: nothing was covered */
	bool has_any;		     /* the recording has coverage */
};

void ctx_coverage_lines_deinit(struct ctx_coverage_lines *lines);

/*
 * Of the selection: lines are those of the whole run, executed are those that were so for the first time in its intervals and threads.
 * Fails as the source does, and with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_coverage_lines_pull(struct ctx_report_source *source,
						       struct ctx_coverage_lines *ret, struct ctx_err *err);

/* The name without what says that it is inlined. `*ret_n` bytes. Borrowed. */
const char *ctx_coverage_function(const struct ctx_profile *profile, uint32_t function, size_t *ret_n);

#endif
