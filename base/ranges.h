/*
 * Range map: ranges of addresses that do not overlap, each with a value.
 *
 * There are two ways to build one:
 *
 *	ctx_ranges_put, ctx_ranges_cut		changes over time: a range replaces what it overlaps
 *	ctx_rangemap_add, ctx_rangemap_freeze	at once, from ranges with ranks: the highest rank
 *						wins (base/rangemap.h)
 *
 * A range that is cut in the middle becomes two of the same value.
 *
 * The array is sorted: finding costs O(log n), changing O(n). It descends because most new maps are
 * below the old ones: they are appended. All zero is a valid empty map.
 */
#ifndef CTX_BASE_RANGES_H
#define CTX_BASE_RANGES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* About Linux's default limit for a process. */
#define CTX_RANGES_MAX 65536u

struct ctx_range {
	uint64_t begin, end; /* half-open, not empty */
	uint64_t value;
};

struct ctx_ranges {
	struct ctx_range *items; /* owned; descending */
	size_t n, cap;
	/*
	 * The largest number of ranges, 0: CTX_RANGES_MAX. Beyond it new ranges are dropped, and a
	 * split range keeps its upper part only.
	 */
	size_t max;
};

void ctx_ranges_deinit(struct ctx_ranges *ranges);

/*
 * Removes [begin, end) from all ranges; begin < end. *ret_bytes: the number of removed bytes. Fails
 * with CTX_E_NOMEM; nothing is changed then.
 */
CTX_MUST_CHECK enum ctx_status ctx_ranges_cut(struct ctx_ranges *ranges, uint64_t begin, uint64_t end,
					      uint64_t *ret_bytes, struct ctx_err *err);

/*
 * Removes what `range` overlaps, then inserts it. If it is dropped, *ret_bytes includes its own
 * bytes.
 */
CTX_MUST_CHECK enum ctx_status ctx_ranges_put(struct ctx_ranges *ranges, struct ctx_range range,
					      uint64_t *ret_bytes, struct ctx_err *err);

/* Index of the highest range that begins below `end`, ranges->n without one. O(log n). */
size_t ctx_ranges_below(const struct ctx_ranges *ranges, uint64_t end);

/*
 * The range that holds `address`, NULL without one. Borrowed until the next change. *ret_end (NULL:
 * not wanted) is the address up to which the answer is the same: the end of the range or of the gap
 * (UINT64_MAX above all ranges). O(log n).
 */
const struct ctx_range *ctx_ranges_find(const struct ctx_ranges *ranges, uint64_t address, uint64_t *ret_end);

#endif
