/*
 * Sorts rows by a key that the user selects. A report fills one item per row; equal items keep the
 * report's own order.
 */
#ifndef CTX_REPORT_ORDER_H
#define CTX_REPORT_ORDER_H

#include "base/err.h"

#include <stdint.h>

struct ctx_order_item {
	const char *text;     /* NULL: by number */
	uint64_t number;      /* larger ones first */
	uint64_t second;      /* second key, where the first are equal */
	const uint64_t *more; /* n_more further keys, where those are equal too; borrowed */
	uint32_t n_more;      /* the same for all items */
	uint32_t index;
};

/* Numbers descending, texts ascending. */
void ctx_order_sort(struct ctx_order_item *items, size_t n);

/* For signed numbers, and for times, which are sorted ascending. */
uint64_t ctx_order_signed(int64_t value);
uint64_t ctx_order_ascending(uint64_t value);

/*
 * Position of `sort` among the keys (ended by NULL); CTX_E_ARG with the list of keys if it is not
 * one of them. What a column of text is called is a key too: self, total, name, longest, in any
 * letters. `sort` NULL: position 0, the report's own order.
 */
CTX_MUST_CHECK enum ctx_status ctx_order_find(const char *report, const char *sort, const char *const *keys,
					      size_t *ret_place, struct ctx_err *err);

#endif
