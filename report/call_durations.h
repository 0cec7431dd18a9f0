/*
 * Durations of many calls: how often each function took each time, exactly. Memory: 24 bytes for each
 * distinct pair, so that a function that is called often and returns fast costs little. The numbers of
 * functions may be those of anything else with durations.
 */
#ifndef CTX_REPORT_CALL_DURATIONS_H
#define CTX_REPORT_CALL_DURATIONS_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct ctx_call_duration {
	uint64_t ns;
	uint64_t count; /* 0: a free slot */
	uint32_t function;
};

struct ctx_call_durations {		 /* all zero is empty */
	struct ctx_call_duration *items; /* owned; a hash table; after sorting: by function, then by ns */
	size_t n, cap;
};

void ctx_call_durations_deinit(struct ctx_call_durations *durations);

/* So many calls that took as long. CTX_E_NOMEM. O(1). */
CTX_MUST_CHECK enum ctx_status ctx_call_durations_add(struct ctx_call_durations *durations, uint32_t function,
						      uint64_t ns, uint64_t count, struct ctx_err *err);

/* Nothing can be added afterwards. */
void ctx_call_durations_sort(struct ctx_call_durations *durations);

/* Of one function, after sorting. */
struct ctx_call_spread {
	const struct ctx_call_duration *items; /* borrowed; ascending */
	size_t n;
	uint64_t count; /* calls */
};

/* O(log n + its own). A function without calls has none. */
struct ctx_call_spread ctx_call_durations_of(const struct ctx_call_durations *durations, uint32_t function);

/* The smallest duration that at least permille/1000 of the calls do not exceed (nearest rank); count is not 0. */
uint64_t ctx_call_spread_rank(const struct ctx_call_spread *spread, unsigned permille);

#endif
