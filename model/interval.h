/*
 * Half-open spans of time, [begin, end), in nanoseconds from the start of the experiment.
 */
#ifndef CTX_MODEL_INTERVAL_H
#define CTX_MODEL_INTERVAL_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_interval {
	uint64_t begin_ns;
	uint64_t end_ns; /* not part of the interval */
};

#define CTX_INTERVAL_ALL ((struct ctx_interval){0, UINT64_MAX})

static inline bool ctx_interval_is_empty(struct ctx_interval a)
{
	return a.begin_ns >= a.end_ns;
}

static inline bool ctx_interval_has(struct ctx_interval a, uint64_t time_ns)
{
	return a.begin_ns <= time_ns && time_ns < a.end_ns;
}

/* Empty intervals overlap nothing. */
static inline bool ctx_interval_overlaps(struct ctx_interval a, struct ctx_interval b)
{
	return a.begin_ns < b.end_ns && b.begin_ns < a.end_ns && a.begin_ns < a.end_ns &&
	       b.begin_ns < b.end_ns;
}

static inline bool ctx_interval_contains(struct ctx_interval outer, struct ctx_interval inner)
{
	return outer.begin_ns <= inner.begin_ns && inner.end_ns <= outer.end_ns;
}

/* Whether one of sorted, disjoint intervals has the time. O(log n). */
static inline bool ctx_intervals_have(const struct ctx_interval *intervals, size_t n, uint64_t time_ns)
{
	size_t low = 0, high = n;

	while (low < high) { /* the first that ends later */
		size_t middle = low + (high - low) / 2;

		if (intervals[middle].end_ns <= time_ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low < n && ctx_interval_has(intervals[low], time_ns);
}

/*
 * Parses the user's text of an interval of a run that covers `run` (begin_ns is 0): "300:700"
 * (milliseconds), "1.5s:2s", "250us:", ":30%", "10%:20%", "1000000ns:2ms". Units: ns us ms s m h %;
 * no unit means ms. "1s:+200ms": the second time is the length. An empty end means the run's own. An end after the run's is allowed and cut to
 * it. Fails with CTX_E_ARG and a message with the text and the error: no ':', not a number,
 * negative, reversed or empty, or wholly after the end of the run.
 */
CTX_MUST_CHECK enum ctx_status ctx_interval_parse(const char *text, struct ctx_interval run,
						  struct ctx_interval *ret, struct ctx_err *err);

/*
 * Formats a duration for display: "812 ns", "4.53 us", "300.000 ms", "12.345 s". `out` gets at most
 * `size` bytes, zero included.
 */
void ctx_time_format(uint64_t time_ns, char *out, size_t size);

#endif
