#include "report/order.h"

#include "base/buf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int compare(const void *left, const void *right)
{
	const struct ctx_order_item *a = left, *b = right;
	int order = a->text != NULL && b->text != NULL ? strcmp(a->text, b->text) : 0;

	if (order != 0)
		return order;
	if (a->number != b->number)
		return a->number > b->number ? -1 : 1;
	if (a->second != b->second)
		return a->second > b->second ? -1 : 1;
	for (uint32_t i = 0; i < a->n_more; i++) {
		if (a->more[i] != b->more[i])
			return a->more[i] > b->more[i] ? -1 : 1;
	}
	return a->index < b->index ? -1 : a->index > b->index;
}

void ctx_order_sort(struct ctx_order_item *items, size_t n)
{
	qsort(items, n, sizeof(*items), compare);
}

uint64_t ctx_order_signed(int64_t value)
{
	return (uint64_t)value ^ UINT64_C(1) << 63;
}

uint64_t ctx_order_ascending(uint64_t value)
{
	return ~value;
}

enum ctx_status ctx_order_find(const char *report, const char *sort, const char *const *keys,
			       size_t *ret_place, struct ctx_err *err)
{
	char known[CTX_ERR_MAX / 2] = "";
	size_t used = 0;

	*ret_place = 0;
	if (sort == NULL)
		return CTX_OK;
	for (size_t i = 0; keys[i] != NULL; i++) {
		if (strcmp(keys[i], sort) == 0) {
			*ret_place = i;
			return CTX_OK;
		}
		if (used < sizeof(known))
			used += (size_t)snprintf(known + used, sizeof(known) - used, "%s%s",
						 i != 0 ? ", " : "", keys[i]);
	}
	return ctx_err_set(err, CTX_E_ARG, "%s cannot be sorted by '%s': known are %s", report, sort, known);
}
