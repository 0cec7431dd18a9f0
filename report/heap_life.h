/*
 * How many bytes lived when: allocations and what freed them, of a list of operations in order of time. What was there before the
 * first of them is not known, and counts as nothing.
 *
 * Each process has addresses of its own. An address that is given out again without having been freed was freed unseen. Unmapping
 * takes whole mappings and beginnings of them; what is unmapped out of the middle or from the end lives on.
 */
#ifndef CTX_REPORT_HEAP_LIFE_H
#define CTX_REPORT_HEAP_LIFE_H

#include "base/map64.h"
#include "model/profile.h"
#include "report/report.h"

struct ctx_heap_block {
	uint64_t size; /* 0: was freed */
	uint32_t stack;
	bool lives;
};

struct ctx_heap_life {
	const struct ctx_profile *profile;
	struct ctx_map64 addresses, places;
	struct ctx_heap_block *blocks; /* owned; by place */
	size_t n, cap;
	uint64_t live; /* bytes */
};

void ctx_heap_life_init(struct ctx_heap_life *life, const struct ctx_profile *profile);
void ctx_heap_life_deinit(struct ctx_heap_life *life);

/* One operation of the heap. `counts`: an allocation that is to be looked at; others free what they free, no more. */
CTX_MUST_CHECK enum ctx_status ctx_heap_life_step(struct ctx_heap_life *life,
						  const struct ctx_traced *operation, bool counts);

#endif
