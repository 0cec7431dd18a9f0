/*
 * Span cache: spans of threads that were looked up in time trees, kept for the next lookup nearby.
 *
 * Intervals are often adjacent: the span over the end of one is the span over the begin of the
 * next. An entry depends on the recording only and is valid for every selection. Memory: a few
 * dozen bytes for each queried pair of thread and metric.
 */
#ifndef CTX_QUERY_SPAN_CACHE_H
#define CTX_QUERY_SPAN_CACHE_H

#include "base/err.h"
#include "base/map64.h"
#include "model/sample.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The first span that ends at or after any time from `from_ns` to the span's last nanosecond. */
struct ctx_known_span {
	uint64_t from_ns;
	struct ctx_sample span;
	bool none; /* no span ends at or after from_ns */
	bool used; /* false: the entry is new */
};

struct ctx_span_cache {		      /* all zero is valid and empty */
	struct ctx_map64 places;      /* thread << 32 | metric -> index */
	struct ctx_known_span *known; /* owned */
	size_t n, cap;
};

void ctx_span_cache_deinit(struct ctx_span_cache *cache);

/* In place of a metric: any one of states, or of open calls. */
#define CTX_SPAN_CACHE_STATES UINT32_MAX
#define CTX_SPAN_CACHE_CALLS (UINT32_MAX - 1)
#define CTX_SPAN_CACHE_OMP (UINT32_MAX - 2)

/*
 * The entry of a thread and a metric, created if it is new. That of any metric holds the span found
 * over a point of time. Valid until the next call. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_span_cache_place(struct ctx_span_cache *cache, uint32_t thread,
						    uint32_t metric, struct ctx_known_span **ret,
						    struct ctx_err *err);

#endif
