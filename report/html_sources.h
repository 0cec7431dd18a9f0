/*
 * Annotated source of the hottest functions, for the HTML page: as many as fit into a given number
 * of bytes.
 *
 *	lines of all functions --sections, hottest function first--> groups --appended, compressed--> while they fit
 *
 * A *group* is the part of the page for one function and its inlined instances: the sections of the
 * report `source`. The format is in docs/html-page.md.
 */
#ifndef CTX_REPORT_HTML_SOURCES_H
#define CTX_REPORT_HTML_SOURCES_H

#include "base/buf.h"
#include "model/report_source.h"

#define CTX_HTML_SOURCE_NONE 0u	 /* the function has no line numbers */
#define CTX_HTML_SOURCE_LEFT 1u	 /* it has, but its source is not in the page */
#define CTX_HTML_SOURCE_FIRST 2u /* of group 0, and so on */

struct ctx_html_sources {
	uint64_t unit_weight;	  /* of the samples; weights of lines are written as their difference to it */
	uint64_t weight, samples; /* of all stacks covered by the lines */
	uint32_t *of_function;	  /* owned; by function id: CTX_HTML_SOURCE_*; NULL: no function has source */
	size_t n_groups;
	struct ctx_buf groups; /* owned; the encoded groups of the profile */
	size_t packed_bytes;   /* approximate compressed size of the groups */
	bool dropped;	       /* there were groups: ctx_html_sources_drop */
};

/*
 * Makes the groups: those with weight, by descending exclusive weight, then inclusive. A group that
 * does not fit into `room` compressed bytes is left out; lighter ones may still fit. A recording
 * without source files has no groups. `unit_weight`: of the cells of the first metric. Fails with
 * CTX_E_NOMEM, with CTX_E_FORMAT for ids that do not exist, with what the reader fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_html_sources_make(struct ctx_report_source *source, uint64_t unit_weight,
						     size_t room, struct ctx_html_sources *ret,
						     struct ctx_err *err);
/* Removes all groups. `n_functions`: of the profile from which they were made. */
void ctx_html_sources_drop(struct ctx_html_sources *sources, uint32_t n_functions);

void ctx_html_sources_deinit(struct ctx_html_sources *sources);

/* Appends text as valid UTF-8: invalid bytes become U+FFFD. */
void ctx_html_put_valid(struct ctx_buf *out, const char *text, size_t n);

#endif
