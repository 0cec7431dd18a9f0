/*
 * Freezing is a sweep over the ranges by their begin, with those that are open in a heap:
 *
 *	rank 2        [======)            [==)
 *	rank 1   [==============)   [==)
 *	         a    b      c  d   e  f  g  h
 *	found    1    2      1  -   1  -  2  -
 *
 * The top of the heap is the range found; an ended range is removed when it is at the top.
 */
#include "base/rangemap.h"

#include "base/heap.h"
#include "base/mem.h"

struct heap {
	const struct ctx_rangemap_item **items;
	size_t n;
};

void ctx_rangemap_deinit(struct ctx_rangemap *map)
{
	free(map->items);
	ctx_ranges_deinit(&map->ranges);
	*map = (struct ctx_rangemap){0};
}

enum ctx_status ctx_rangemap_add(struct ctx_rangemap *map, struct ctx_rangemap_item item, struct ctx_err *err)
{
	enum ctx_status status;

	if (item.begin >= item.end)
		return CTX_OK;
	if (map->n == UINT32_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "too many ranges");
	status = ctx_grow(&map->items, &map->cap, map->n + 1, err);
	if (status != CTX_OK)
		return status;
	item.order = (uint32_t)map->n;
	map->items[map->n++] = item;
	return CTX_OK;
}

static int compare_begins(const void *left, const void *right)
{
	const struct ctx_rangemap_item *a = left;
	const struct ctx_rangemap_item *b = right;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	return a->order < b->order ? -1 : 1;
}

static bool is_above(const void *left, const void *right)
{
	const struct ctx_rangemap_item *a = *(const struct ctx_rangemap_item *const *)left;
	const struct ctx_rangemap_item *b = *(const struct ctx_rangemap_item *const *)right;

	return a->rank != b->rank ? a->rank > b->rank : a->order > b->order;
}

static void push(struct heap *heap, const struct ctx_rangemap_item *item)
{
	heap->items[heap->n++] = item;
	ctx_heap_rise(heap->items, heap->n, sizeof(*heap->items), is_above);
}

static void pop(struct heap *heap)
{
	heap->items[0] = heap->items[--heap->n];
	ctx_heap_sink(heap->items, heap->n, sizeof(*heap->items), is_above);
}

/* Emits the top of the heap for [begin, end). */
static enum ctx_status emit(struct ctx_ranges *ranges, uint64_t begin, uint64_t end, uint32_t value,
			    struct ctx_err *err)
{
	struct ctx_range *last = ranges->n != 0 ? &ranges->items[ranges->n - 1] : NULL;
	enum ctx_status status;

	if (last != NULL && last->end == begin && last->value == value) {
		last->end = end;
		return CTX_OK;
	}
	status = ctx_grow(&ranges->items, &ranges->cap, ranges->n + 1, err);
	if (status == CTX_OK)
		ranges->items[ranges->n++] = (struct ctx_range){begin, end, value};
	return status;
}

static enum ctx_status sweep(struct ctx_rangemap *map, struct heap *heap, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	uint64_t at = map->items[0].begin;
	size_t i = 0;

	while (status == CTX_OK) {
		uint64_t begin = at;

		while (i < map->n && map->items[i].begin == at)
			push(heap, &map->items[i++]);
		while (heap->n > 0 && heap->items[0]->end <= at)
			pop(heap);
		if (heap->n == 0 && i == map->n)
			break;
		if (heap->n == 0) {
			at = map->items[i].begin;
			continue;
		}
		at = heap->items[0]->end;
		if (i < map->n && map->items[i].begin < at)
			at = map->items[i].begin;
		status = emit(&map->ranges, begin, at, heap->items[0]->value, err);
	}
	return status;
}

static void reverse(struct ctx_ranges *ranges)
{
	for (size_t i = 0; i < ranges->n / 2; i++) {
		struct ctx_range low = ranges->items[i];

		ranges->items[i] = ranges->items[ranges->n - 1 - i];
		ranges->items[ranges->n - 1 - i] = low;
	}
}

enum ctx_status ctx_rangemap_freeze(struct ctx_rangemap *map, struct ctx_err *err)
{
	struct heap heap = {0};
	enum ctx_status status;

	if (map->n == 0)
		return CTX_OK;
	qsort(map->items, map->n, sizeof(*map->items), compare_begins);
	heap.items = ctx_calloc(map->n, sizeof(*heap.items));
	status = heap.items != NULL ? sweep(map, &heap, err) : ctx_err_nomem(err);
	reverse(&map->ranges);
	free(heap.items);
	free(map->items);
	map->items = NULL;
	map->n = map->cap = 0;
	return status;
}

uint32_t ctx_rangemap_find(const struct ctx_rangemap *map, uint64_t address, uint64_t *ret_end)
{
	const struct ctx_range *found = ctx_ranges_find(&map->ranges, address, ret_end);

	return found != NULL ? (uint32_t)found->value : CTX_RANGEMAP_NONE;
}
