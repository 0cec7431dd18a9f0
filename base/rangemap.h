/*
 * A range map (base/ranges.h) built at once from ranges that may overlap: at each address the one
 * of the highest rank is found.
 *
 * First ctx_rangemap_add for each range, then ctx_rangemap_freeze once; lookups afterwards.
 */
#ifndef CTX_BASE_RANGEMAP_H
#define CTX_BASE_RANGEMAP_H

#include "base/ranges.h"

#define CTX_RANGEMAP_NONE UINT32_MAX

struct ctx_rangemap_item {
	uint64_t begin, end; /* half-open, not empty */
	uint64_t rank;	     /* of equal ranks the range that was added last is found */
	uint32_t value;	     /* not CTX_RANGEMAP_NONE */
	uint32_t order;	     /* set by ctx_rangemap_add */
};

struct ctx_rangemap {			 /* all zero is a valid empty map, frozen or not */
	struct ctx_rangemap_item *items; /* owned; NULL after freeze */
	size_t n, cap;
	struct ctx_ranges ranges; /* after freeze; neighbours of the same value are one range */
};

void ctx_rangemap_deinit(struct ctx_rangemap *map);

/*
 * Adds a range; an empty or reversed one is ignored. Amortised O(1). Fails with CTX_E_NOMEM,
 * CTX_E_LIMIT (4 G ranges).
 */
CTX_MUST_CHECK enum ctx_status ctx_rangemap_add(struct ctx_rangemap *map, struct ctx_rangemap_item item,
						struct ctx_err *err);

/* O(n log n). Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_rangemap_freeze(struct ctx_rangemap *map, struct ctx_err *err);

/* The value at an address, CTX_RANGEMAP_NONE without a range; *ret_end as ctx_ranges_find. O(log
 * n). */
uint32_t ctx_rangemap_find(const struct ctx_rangemap *map, uint64_t address, uint64_t *ret_end);

#endif
