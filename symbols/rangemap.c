/*
 * Freezing is a sweep over the ranges by their begin, with those that are open in a heap:
 *
 *	rank 2        [======)            [==)
 *	rank 1   [==============)   [==)
 *	         a    b      c  d   e  f  g  h
 *	found    1    2      1  -   1  -  2  -
 *
 * The top of the heap is what is found; a range that has ended leaves the heap when it comes to the top.
 */
#include "symbols/rangemap.h"

#include "base/mem.h"

#include <stdlib.h>

struct heap {
	struct ctx_rangemap_item **items;
	size_t n;
};

void ctx_rangemap_deinit(struct ctx_rangemap *map)
{
	free(map->items);
	free(map->ranges);
	*map = (struct ctx_rangemap){0};
}

enum ctx_status ctx_rangemap_add(struct ctx_rangemap *map, uint64_t begin, uint64_t end, uint64_t rank,
				 uint32_t value, struct ctx_err *err)
{
	enum ctx_status status;

	if (begin >= end)
		return CTX_OK;
	if (map->n == UINT32_MAX)
		return ctx_err_set(err, CTX_E_LIMIT, "too many ranges");
	status = ctx_grow(&map->items, &map->cap, map->n + 1, err);
	if (status != CTX_OK)
		return status;
	map->items[map->n] = (struct ctx_rangemap_item){
		.begin = begin, .end = end, .rank = rank, .value = value, .order = (uint32_t)map->n};
	map->n++;
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

static bool is_above(const struct ctx_rangemap_item *a, const struct ctx_rangemap_item *b)
{
	return a->rank != b->rank ? a->rank > b->rank : a->order > b->order;
}

static void push(struct heap *heap, struct ctx_rangemap_item *item)
{
	size_t i = heap->n++;

	for (; i > 0 && is_above(item, heap->items[(i - 1) / 2]); i = (i - 1) / 2)
		heap->items[i] = heap->items[(i - 1) / 2];
	heap->items[i] = item;
}

static void pop(struct heap *heap)
{
	struct ctx_rangemap_item *last = heap->items[--heap->n];
	size_t i = 0;

	for (;;) {
		size_t child = 2 * i + 1;

		if (child >= heap->n)
			break;
		if (child + 1 < heap->n && is_above(heap->items[child + 1], heap->items[child]))
			child++;
		if (!is_above(heap->items[child], last))
			break;
		heap->items[i] = heap->items[child];
		i = child;
	}
	heap->items[i] = last;
}

static enum ctx_status emit(struct ctx_rangemap *map, uint64_t begin, uint32_t value, struct ctx_err *err)
{
	enum ctx_status status;

	if (map->range_n > 0 && map->ranges[map->range_n - 1].value == value)
		return CTX_OK;
	status = ctx_grow(&map->ranges, &map->ranges_cap, map->range_n + 1, err);
	if (status == CTX_OK)
		map->ranges[map->range_n++] = (struct ctx_rangemap_range){begin, value};
	return status;
}

static enum ctx_status sweep(struct ctx_rangemap *map, struct heap *heap, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	uint64_t at = map->items[0].begin;
	size_t i = 0;

	while (status == CTX_OK) {
		while (i < map->n && map->items[i].begin == at)
			push(heap, &map->items[i++]);
		while (heap->n > 0 && heap->items[0]->end <= at)
			pop(heap);
		status = emit(map, at, heap->n > 0 ? heap->items[0]->value : CTX_RANGEMAP_NONE, err);
		if (heap->n == 0 && i == map->n)
			break;
		if (heap->n > 0 && (i == map->n || heap->items[0]->end < map->items[i].begin))
			at = heap->items[0]->end;
		else
			at = map->items[i].begin;
	}
	return status;
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
	free(heap.items);
	free(map->items);
	map->items = NULL;
	map->n = map->cap = 0;
	return status;
}

uint32_t ctx_rangemap_find(const struct ctx_rangemap *map, uint64_t address, uint64_t *ret_end)
{
	size_t low = 0;
	size_t high = map->range_n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (map->ranges[middle].begin <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (ret_end != NULL)
		*ret_end = low < map->range_n ? map->ranges[low].begin : UINT64_MAX;
	return low > 0 ? map->ranges[low - 1].value : CTX_RANGEMAP_NONE;
}
