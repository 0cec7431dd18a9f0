/*
 * What a program says of itself (runtime/ctx_trace.h) as spans of time: points, and intervals from their begin
 * to their end; and which of them a user's text names.
 */
#ifndef CTX_MODEL_MARK_SPANS_H
#define CTX_MODEL_MARK_SPANS_H

#include "base/err.h"
#include "model/interval.h"
#include "model/traced.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ctx_mark_kind {
	CTX_MARK_IS_POINT, /* begin and end are the same */
	CTX_MARK_IS_INTERVAL,
	CTX_MARK_IS_OPEN,  /* an interval without an end, up to that of the run */
	CTX_MARK_IS_PAUSE, /* also one that did not end */
};

struct ctx_mark_span {
	uint64_t begin_ns, end_ns; /* the end belongs to it */
	uint32_t name;		   /* as `file` of the operation; CTX_NONE none */
	uint32_t thread;	   /* that said it; of an interval, that ended it */
	enum ctx_mark_kind kind;
};

struct ctx_mark_spans {
	struct ctx_mark_span *items; /* owned; by begin, then by end, the longest first */
	size_t n, cap;
};

/*
 * From operations of CTX_TRACED_MARK in order of time, `end_ns` being the end of the run. Counters are none.
 * An interval whose begin is not among the operations is there, with its whole duration; one whose end is not
 * is open. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_mark_spans_make(const struct ctx_traced *operations, size_t n,
						   uint64_t end_ns, struct ctx_mark_spans *ret,
						   struct ctx_err *err);
void ctx_mark_spans_deinit(struct ctx_mark_spans *spans);

/* Does the text name spans of marks, and no times? */
bool ctx_mark_text_is(const char *text);

#define CTX_MARK_INTERVALS_MAX 65536u /* that one text may name */

/* A recording in which to look. */
struct ctx_mark_view {
	const struct ctx_mark_spans *spans;
	const char *const *names;
	uint32_t n_names;
	struct ctx_interval run;
};

struct ctx_mark_intervals {
	struct ctx_interval *items; /* owned */
	size_t n, cap;
};

/*
 * Appends the intervals that a text names:
 *
 *	mark:load		the first interval "load", its begin and its end
 *	mark:load#2		the second one, in order of their begins
 *	mark:load#*		all of them
 *	mark:a..mark:b		from the first "a" to the first "b" behind it; points, or intervals: from its begin, to its end
 *	mark:a#3..mark:b#2	the third "a", the second "b" of the recording
 *	mark:a..  ..mark:b	up to the end of the run, from its begin
 *
 * A name may hold '#'; only digits, or '*', behind the last one are a number. The end is one ns behind what ended there,
 * so that it is in the interval. CTX_E_ARG, with a line that says what is wrong and which names are near;
 * CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_mark_intervals_find(const struct ctx_mark_view *view, const char *text,
						       struct ctx_mark_intervals *ret, struct ctx_err *err);

/* The smallest of ascending values that at least `percent` of them do not exceed (nearest rank); n is not 0. */
uint64_t ctx_mark_percentile(const uint64_t *values, size_t n, unsigned percent);

#endif
