/*
 * The calls of the HTML page's flame chart: those that were seen to begin and end, and which locks were held
 * when. The layout is in docs/html-page.md.
 *
 *	calls -----> call_spans --+
 *	holds -----> call_spans --+--> bytes --gzip--> small enough? --no--> wider runs
 */
#ifndef CTX_REPORT_HTML_CALLS_H
#define CTX_REPORT_HTML_CALLS_H

#include "base/buf.h"
#include "model/export.h"
#include "report/call_spans.h"

struct ctx_html_hold { /* of locks that are told apart: the object, and where it was released */
	uint64_t address;
	uint32_t stack; /* CCT node */
};

struct ctx_html_lock_row {
	uint32_t thread;
	uint64_t end_ns; /* of the last lock in it */
};

struct ctx_html_calls {
	const struct ctx_export_input *input; /* borrowed */
	struct ctx_interval interval;	      /* what they are of: the whole run, or the selection */
	bool is_restricted;		      /* to the selection: its intervals, threads and filters */
	uint64_t n_calls;		      /* that the spans are made of */
	struct ctx_call_spans spans;
	/* Locks: no two spans of a row overlap. `thread` of a span is a row, `what` a hold. */
	struct ctx_call_spans locks;
	struct ctx_html_lock_row *rows; /* owned; by thread */
	size_t n_rows, rows_cap;
	struct ctx_html_hold *holds; /* owned; sorted */
	size_t n_holds;
};

/* Whether the recording has calls (not sums of them) or locks at all. */
bool ctx_html_calls_are_there(const struct ctx_profile *profile);

/*
 * Reads all calls: of the whole run (filters apply), or with `is_restricted` those that overlap the
 * selection. Locks are always those of the selection. At most `most` spans of either. CTX_E_NOMEM, and what
 * reading fails with.
 */
CTX_MUST_CHECK enum ctx_status ctx_html_calls_collect(struct ctx_html_calls *calls, size_t most,
						      struct ctx_err *err);
void ctx_html_calls_deinit(struct ctx_html_calls *calls); /* keeps input and is_restricted */

/* Joins spans until there are some `most` of either. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_html_calls_reduce(struct ctx_html_calls *calls, size_t most,
						     struct ctx_err *err);

/* Calls that are shorter may be in runs; 0: none is. */
uint64_t ctx_html_calls_width(const struct ctx_html_calls *calls);

/* Marks the CCT nodes that the spans need, without their callers; by id. */
void ctx_html_calls_mark(const struct ctx_html_calls *calls, bool *used);

/* Appends the encoded calls. `nodes`: the page's numbers of CCT nodes. If memory runs out, the buffer fails. */
void ctx_html_calls_put(const struct ctx_html_calls *calls, const uint32_t *nodes, struct ctx_buf *out);

#endif
