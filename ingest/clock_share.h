/*
 * What a clock of CPU time saw of each thread, beside what the thread spent on CPUs as its states say.
 *
 * The kernel's clock of a thread begins with a whole tick, and what is left of it at the thread's end is
 * lost: threads that end before have no samples, and those that live for a few ticks have too few. In a
 * sum over many threads that is a bias, not noise.
 */
#ifndef CTX_INGEST_CLOCK_SHARE_H
#define CTX_INGEST_CLOCK_SHARE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct ctx_clock_share {
	struct ctx_clock_share_of {
		uint64_t on_cpu_ns, seen_ns;
	} * threads; /* by number; owned */
	size_t n, cap;
};

void ctx_clock_share_deinit(struct ctx_clock_share *share);

/* A thread was on a CPU, or has a sample of the clock. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_clock_share_on_cpu(struct ctx_clock_share *share, uint32_t thread,
						      uint64_t ns, struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status ctx_clock_share_seen(struct ctx_clock_share *share, uint32_t thread,
						    uint64_t ns, struct ctx_err *err);

/* Threads that were on CPUs for less than a time each. */
struct ctx_clock_share_sum {
	uint64_t threads, on_cpu_ns, seen_ns;
};

struct ctx_clock_share_sum ctx_clock_share_below(const struct ctx_clock_share *share, uint64_t below_ns);

#endif
