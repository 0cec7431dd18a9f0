/*
 * A perf sample into frames: the one place that knows how stacks come to be. Today the kernel walks frame
 * pointers.
 */
#ifndef CTX_COLLECT_CALLCHAIN_H
#define CTX_COLLECT_CALLCHAIN_H

#include "collect/perfrecord.h"

/* The kernel's limit can be raised up to this (sysctl kernel.perf_event_max_stack has no upper bound of its
 * own, records have: 64 KiB). */
#define CTX_CALLCHAIN_MAX 8192

struct ctx_callchain {
	uint32_t max_stack; /* sysctl kernel.perf_event_max_stack: a chain of this many was cut */
	uint64_t frames[CTX_CALLCHAIN_MAX + 1];
	size_t n;
};

/*
 * Sets frames and n, leaf first: the kernel's part, then the user's. The pc's are exact, callers are return
 * address - 1; CTX_FRAME_TRUNCATED is last when the chain was cut, or ended in an address that cannot be (a
 * register that was no frame pointer). A sample without a chain has its ip alone.
 */
void ctx_callchain_unwind(struct ctx_callchain *chain, const struct ctx_perf_record *sample);

#endif
