#include "report/call_durations.h"

#include "base/map64.h"
#include "base/mem.h"

#include <stdlib.h>

#define FIRST_CAP 256u

void ctx_call_durations_deinit(struct ctx_call_durations *durations)
{
	free(durations->items);
	*durations = (struct ctx_call_durations){0};
}

static struct ctx_call_duration *slot_of(const struct ctx_call_durations *durations, uint32_t function,
					 uint64_t ns)
{
	size_t mask = durations->cap - 1;
	size_t i = (size_t)(ctx_hash64(ns * 31 + function) >> 20) & mask;

	while (durations->items[i].count != 0 &&
	       (durations->items[i].ns != ns || durations->items[i].function != function))
		i = (i + 1) & mask;
	return &durations->items[i];
}

static enum ctx_status grow(struct ctx_call_durations *durations, struct ctx_err *err)
{
	struct ctx_call_durations bigger = {.n = durations->n,
					    .cap = durations->cap != 0 ? 2 * durations->cap : FIRST_CAP};

	bigger.items = ctx_calloc(bigger.cap, sizeof(*bigger.items));
	if (bigger.items == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < durations->cap; i++) {
		const struct ctx_call_duration *item = &durations->items[i];

		if (item->count != 0)
			*slot_of(&bigger, item->function, item->ns) = *item;
	}
	free(durations->items);
	*durations = bigger;
	return CTX_OK;
}

enum ctx_status ctx_call_durations_add(struct ctx_call_durations *durations, uint32_t function, uint64_t ns,
				       uint64_t count, struct ctx_err *err)
{
	struct ctx_call_duration *slot;

	if (durations->n * 8 >= durations->cap * 5) {
		enum ctx_status status = grow(durations, err);

		if (status != CTX_OK)
			return status;
	}
	slot = slot_of(durations, function, ns);
	durations->n += slot->count == 0;
	*slot = (struct ctx_call_duration){.ns = ns, .count = slot->count + count, .function = function};
	return CTX_OK;
}

static int compare(const void *a, const void *b)
{
	const struct ctx_call_duration *left = a, *right = b;

	if (left->function != right->function)
		return left->function < right->function ? -1 : 1;
	return (left->ns > right->ns) - (left->ns < right->ns);
}

void ctx_call_durations_sort(struct ctx_call_durations *durations)
{
	size_t n = 0;

	for (size_t i = 0; i < durations->cap; i++) {
		if (durations->items[i].count != 0)
			durations->items[n++] = durations->items[i];
	}
	durations->n = n;
	if (n != 0)
		qsort(durations->items, n, sizeof(*durations->items), compare);
}

/* How many are of a function below this one. */
static size_t count_below(const struct ctx_call_durations *durations, uint32_t function)
{
	size_t from = 0, to = durations->n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (durations->items[middle].function < function)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

struct ctx_call_spread ctx_call_durations_of(const struct ctx_call_durations *durations, uint32_t function)
{
	size_t from = count_below(durations, function);
	struct ctx_call_spread spread = {0};

	if (from == durations->n)
		return spread;
	spread.items = durations->items + from;
	for (; from + spread.n < durations->n && spread.items[spread.n].function == function; spread.n++)
		spread.count += spread.items[spread.n].count;
	return spread;
}

uint64_t ctx_call_spread_rank(const struct ctx_call_spread *spread, unsigned permille)
{
	/* Without overflow: count * permille / 1000, rounded up. */
	uint64_t rank = spread->count / 1000 * permille + (spread->count % 1000 * permille + 999) / 1000;
	uint64_t passed = 0;
	size_t i = 0;

	for (; i + 1 < spread->n; i++) {
		passed += spread->items[i].count;
		if (passed >= rank)
			break;
	}
	return spread->items[i].ns;
}
