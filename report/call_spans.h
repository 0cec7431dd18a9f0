/*
 * The calls of threads over time at a level of detail: long calls one by one, short ones in runs.
 *
 *	calls, in order of their ends --> open runs of each thread and depth --> spans
 *
 *	depth 1  |------------------ main -----------------|		main   1 call
 *	depth 2   |p||p||p|   |----- read -----|   |p||p|		p x 3, read, p x 2
 *	depth 3   |l||l||l|                        |l||l|		l x 3,       l x 2
 *
 * A call of at least `width_ns` is a span by itself, with the exact begin and end: of all calls the
 * longest are never in runs. Shorter ones that follow each other at one depth of a thread are one span,
 * which is at most `width_ns` long. What a run's calls called is in runs that lie inside it; what a call by
 * itself called is not in one run with what another one did. So spans of a thread and depth do not overlap,
 * and the sums of calls, elapsed and self time of each thread and depth are exact at every level.
 *
 * When there are twice `most` spans, `width_ns` grows and runs are joined: any number of calls needs
 * memory for four times `most` alone. There are more than `most` in the end only where there are more depths.
 */
#ifndef CTX_REPORT_CALL_SPANS_H
#define CTX_REPORT_CALL_SPANS_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_call_span {
	uint64_t begin_ns, end_ns; /* of a run: from the begin of its first call to the end of its last one */
	uint64_t calls;		   /* 1: a call by itself; 0: free */
	uint64_t elapsed_ns;	   /* from entry to exit, of all its calls together */
	uint64_t self_ns;	   /* in none of the calls that they made */
	uint64_t longest_ns;	   /* the longest of them */
	uint32_t what;		   /* the longest one's, of equally long ones the first one's: a CCT node */
	uint32_t thread;
	uint32_t depth;
	bool is_mixed; /* not all are of `what` */
};

struct ctx_call_spans {		     /* set `most` and `width_ns`; all else zero */
	size_t most;		     /* spans, at least 1 */
	uint64_t width_ns;	     /* 0: each call is a span by itself */
	struct ctx_call_span *items; /* owned; after ctx_call_spans_end by thread, depth, begin */
	size_t n, cap;
	struct ctx_call_lane *lanes; /* owned; by thread */
	size_t n_lanes, lanes_cap;
};

void ctx_call_spans_deinit(struct ctx_call_spans *spans);

/*
 * Adds a call, or a run of calls: those of a thread in order of their ends, of equal ones the deeper first.
 * O(1), but for the depth of what is joined. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_call_spans_add(struct ctx_call_spans *spans,
						  const struct ctx_call_span *call, struct ctx_err *err);

/* After the last call: sorts. O(n log n). CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_call_spans_end(struct ctx_call_spans *spans, struct ctx_err *err);

/*
 * After the end: joins more of them until there are at most `most`, or as few as can be; whether any were joined is
 * what `n` tells. O(n log n) for each width. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_call_spans_reduce(struct ctx_call_spans *spans, size_t most,
						     struct ctx_err *err);

#endif
