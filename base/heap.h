/*
 * Binary heap in the caller's array: the item that comes first is items[0].
 *
 *	push		items[n++] = item;		ctx_heap_rise(items, n, size, is_before);
 *	pop		items[0] = items[--n];		ctx_heap_sink(items, n, size, is_before);
 *	change the top	items[0].time_ns = later;	ctx_heap_sink(items, n, size, is_before);
 *
 * Items that compare equal come in no particular order. Each call is O(log n). All of it is
 * inlined: a heap costs what one written by hand costs. Items have up to CTX_HEAP_ITEM_MAX bytes.
 */
#ifndef CTX_BASE_HEAP_H
#define CTX_BASE_HEAP_H

#include "base/bisect.h"

#include <assert.h>
#include <string.h>

#define CTX_HEAP_ITEM_MAX 32u

typedef bool ctx_heap_is_before(const void *a, const void *b);

/* Restores the order after the last of n items was added. */
CTX_ALWAYS_INLINE void ctx_heap_rise(void *items, size_t n, size_t size, ctx_heap_is_before *is_before)
{
	_Alignas(max_align_t) char item[CTX_HEAP_ITEM_MAX];
	char *bytes = items;
	size_t at = n - 1;

	assert(size <= sizeof(item));
	memcpy(item, bytes + at * size, size);
	for (; at != 0 && is_before(item, bytes + (at - 1) / 2 * size); at = (at - 1) / 2)
		memcpy(bytes + at * size, bytes + (at - 1) / 2 * size, size);
	memcpy(bytes + at * size, item, size);
}

/* Restores the order after the first of n items was changed. n may be 0. */
CTX_ALWAYS_INLINE void ctx_heap_sink(void *items, size_t n, size_t size, ctx_heap_is_before *is_before)
{
	_Alignas(max_align_t) char item[CTX_HEAP_ITEM_MAX];
	char *bytes = items;
	size_t at = 0;

	if (n < 2)
		return;
	assert(size <= sizeof(item));
	memcpy(item, bytes, size);
	for (size_t child; (child = 2 * at + 1) < n; at = child) {
		if (child + 1 < n && is_before(bytes + (child + 1) * size, bytes + child * size))
			child++;
		if (!is_before(bytes + child * size, item))
			break;
		memcpy(bytes + at * size, bytes + child * size, size);
	}
	memcpy(bytes + at * size, item, size);
}

#endif
