#include "base/ranges.h"

#include "base/mem.h"

#include <string.h>

void ctx_ranges_deinit(struct ctx_ranges *ranges)
{
	free(ranges->items);
	*ranges = (struct ctx_ranges){0};
}

/* The first range that does not lie wholly above `end`: it begins below it. */
static size_t first_below(const struct ctx_ranges *ranges, uint64_t end)
{
	size_t low = 0, high = ranges->n;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (ranges->items[middle].begin >= end)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static uint64_t bytes_of(const struct ctx_range *ranges, size_t n)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += ranges[i].end - ranges[i].begin;
	return bytes;
}

/* Puts up to three ranges in the place of `n`. */
static enum ctx_status replace(struct ctx_ranges *ranges, size_t at, size_t n, const struct ctx_range *with,
			       size_t n_with, struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&ranges->items, &ranges->cap, ranges->n - n + n_with, err);

	if (status != CTX_OK)
		return status;
	if (ranges->n != 0 && n != n_with)
		memmove(ranges->items + at + n_with, ranges->items + at + n,
			(ranges->n - at - n) * sizeof(*with));
	if (n_with != 0)
		memcpy(ranges->items + at, with, n_with * sizeof(*with));
	ranges->n = ranges->n - n + n_with;
	return CTX_OK;
}

/* Beyond the most ranges what would become two keeps its upper part only: adding one more would move all others. */
static enum ctx_status change(struct ctx_ranges *ranges, struct ctx_range range, bool puts,
			      uint64_t *ret_bytes, struct ctx_err *err)
{
	size_t at = first_below(ranges, range.end), n = 0, n_with = 0;
	struct ctx_range with[3];
	uint64_t before;

	while (at + n < ranges->n && ranges->items[at + n].end > range.begin)
		n++;
	if (n != 0 && ranges->items[at].end > range.end) {
		with[n_with] = ranges->items[at];
		with[n_with++].begin = range.end;
	}
	if (puts)
		with[n_with++] = range;
	if (n != 0 && ranges->items[at + n - 1].begin < range.begin &&
	    (n_with < n || ranges->n < CTX_RANGES_MAX)) {
		with[n_with] = ranges->items[at + n - 1];
		with[n_with++].end = range.begin;
	}
	before = n != 0 ? bytes_of(&ranges->items[at], n) : 0;
	*ret_bytes = before + (puts ? range.end - range.begin : 0) - bytes_of(with, n_with);
	return n == 0 && n_with == 0 ? CTX_OK : replace(ranges, at, n, with, n_with, err);
}

enum ctx_status ctx_ranges_cut(struct ctx_ranges *ranges, uint64_t begin, uint64_t end, uint64_t *ret_bytes,
			       struct ctx_err *err)
{
	return change(ranges, (struct ctx_range){begin, end, 0}, false, ret_bytes, err);
}

enum ctx_status ctx_ranges_put(struct ctx_ranges *ranges, struct ctx_range range, uint64_t *ret_bytes,
			       struct ctx_err *err)
{
	bool fits = ranges->n < CTX_RANGES_MAX;
	enum ctx_status status = change(ranges, range, fits, ret_bytes, err);

	if (status == CTX_OK && !fits)
		*ret_bytes += range.end - range.begin;
	return status;
}
