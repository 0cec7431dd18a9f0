/*
 * Ranges of addresses that do not overlap, each with a value: what a program has mapped. Putting one takes its place from those
 * that are there; cutting takes the place only. A range that is cut in the middle becomes two with one value.
 *
 * A sorted array: finding costs O(log n), changing O(n). It descends because new maps mostly come below the old ones: they are added
 * at its end. All zero is none.
 */
#ifndef CTX_BASE_RANGES_H
#define CTX_BASE_RANGES_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

/* About what Linux allows a process. Of more, new ones are left out, and what would become two keeps its upper part only. */
#define CTX_RANGES_MAX 65536u

struct ctx_range {
	uint64_t begin, end;
	uint64_t value;
};

struct ctx_ranges {
	struct ctx_range *items; /* owned; descending */
	size_t n, cap;
};

void ctx_ranges_deinit(struct ctx_ranges *ranges);

/* Takes [begin, end) out of all ranges; begin < end. *ret_bytes: how much of them is gone. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_ranges_cut(struct ctx_ranges *ranges, uint64_t begin, uint64_t end,
					      uint64_t *ret_bytes, struct ctx_err *err);

/* The same, and `range` is there instead. *ret_bytes of one that is left out has its own bytes, too. */
CTX_MUST_CHECK enum ctx_status ctx_ranges_put(struct ctx_ranges *ranges, struct ctx_range range,
					      uint64_t *ret_bytes, struct ctx_err *err);

#endif
