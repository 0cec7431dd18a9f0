/*
 * Range map: ranges of addresses that may overlap -> for each address the one of the highest rank.
 *
 * First ctx_rangemap_add for each range, then ctx_rangemap_freeze once; lookups afterwards.
 */
#ifndef CTX_SYMBOLS_RANGEMAP_H
#define CTX_SYMBOLS_RANGEMAP_H

#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

#define CTX_RANGEMAP_NONE UINT32_MAX

struct ctx_rangemap_item {
	uint64_t begin, end; /* half-open, not empty */
	uint64_t rank;	/* of several at one address the highest is found; of equal ones the last added */
	uint32_t value; /* not CTX_RANGEMAP_NONE */
	uint32_t order;
};

struct ctx_rangemap_range {
	uint64_t begin; /* up to the next one's */
	uint32_t value; /* CTX_RANGEMAP_NONE: a gap */
};

struct ctx_rangemap {			 /* all zero is a valid empty map, frozen or not */
	struct ctx_rangemap_item *items; /* owned; gone after freeze */
	size_t n, cap;
	struct ctx_rangemap_range *ranges; /* owned; by address, the last one is a gap */
	size_t range_n, ranges_cap;
};

void ctx_rangemap_deinit(struct ctx_rangemap *map);

/* Adds a range; an empty or reversed one is ignored. Amortised O(1). Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_rangemap_add(struct ctx_rangemap *map, uint64_t begin, uint64_t end,
						uint64_t rank, uint32_t value, struct ctx_err *err);

/* O(n log n). Fails with CTX_E_NOMEM, CTX_E_LIMIT (4 G ranges). */
CTX_MUST_CHECK enum ctx_status ctx_rangemap_freeze(struct ctx_rangemap *map, struct ctx_err *err);

/*
 * The value at an address, CTX_RANGEMAP_NONE where no range is; `*ret_end` (NULL: not wanted) is the address up to
 * which that is so, UINT64_MAX behind the last range. O(log n).
 */
uint32_t ctx_rangemap_find(const struct ctx_rangemap *map, uint64_t address, uint64_t *ret_end);

#endif
