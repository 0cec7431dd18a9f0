#include "base/ranges.h"

#include "base/bisect.h"
#include "base/mem.h"

#include <string.h>

void ctx_ranges_deinit(struct ctx_ranges *ranges)
{
	free(ranges->items);
	*ranges = (struct ctx_ranges){0};
}

static bool begins_from(const void *items, size_t i, uint64_t address)
{
	const struct ctx_range *ranges = items;

	return ranges[i].begin >= address;
}

size_t ctx_ranges_below(const struct ctx_ranges *ranges, uint64_t end)
{
	return ctx_bisect(ranges->items, ranges->n, begins_from, end);
}

static bool begins_above(const void *items, size_t i, uint64_t address)
{
	const struct ctx_range *ranges = items;

	return ranges[i].begin > address;
}

const struct ctx_range *ctx_ranges_find(const struct ctx_ranges *ranges, uint64_t address, uint64_t *ret_end)
{
	size_t at = ctx_bisect(ranges->items, ranges->n, begins_above, address);
	const struct ctx_range *found =
		at < ranges->n && address < ranges->items[at].end ? &ranges->items[at] : NULL;

	if (ret_end != NULL && found != NULL)
		*ret_end = found->end;
	else if (ret_end != NULL)
		*ret_end = at != 0 ? ranges->items[at - 1].begin : UINT64_MAX;
	return found;
}

static uint64_t bytes_of(const struct ctx_range *ranges, size_t n)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < n; i++)
		bytes += ranges[i].end - ranges[i].begin;
	return bytes;
}

static bool is_full(const struct ctx_ranges *ranges)
{
	return ranges->n >= (ranges->max != 0 ? ranges->max : CTX_RANGES_MAX);
}

struct replacement {
	size_t at, n; /* indices of the replaced ranges */
	struct ctx_range with[3];
	size_t n_with;
};

static enum ctx_status replace(struct ctx_ranges *ranges, const struct replacement *change,
			       struct ctx_err *err)
{
	size_t at = change->at, n = change->n, n_with = change->n_with;
	enum ctx_status status = ctx_grow(&ranges->items, &ranges->cap, ranges->n - n + n_with, err);

	if (status != CTX_OK)
		return status;
	if (ranges->n != 0 && n != n_with)
		memmove(ranges->items + at + n_with, ranges->items + at + n,
			(ranges->n - at - n) * sizeof(*change->with));
	if (n_with != 0)
		memcpy(ranges->items + at, change->with, n_with * sizeof(*change->with));
	ranges->n = ranges->n - n + n_with;
	return CTX_OK;
}

/*
 * At the maximal number of ranges a split range keeps its upper part only: one more would move all
 * others.
 */
static enum ctx_status change(struct ctx_ranges *ranges, struct ctx_range range, bool puts,
			      uint64_t *ret_bytes, struct ctx_err *err)
{
	struct replacement to = {.at = ctx_ranges_below(ranges, range.end)};
	const struct ctx_range *items = to.at < ranges->n ? ranges->items + to.at : NULL;
	uint64_t before;

	while (to.at + to.n < ranges->n && items[to.n].end > range.begin)
		to.n++;
	if (to.n != 0 && items[0].end > range.end)
		to.with[to.n_with++] = (struct ctx_range){range.end, items[0].end, items[0].value};
	if (puts)
		to.with[to.n_with++] = range;
	if (to.n != 0 && items[to.n - 1].begin < range.begin && (to.n_with < to.n || !is_full(ranges)))
		to.with[to.n_with++] =
			(struct ctx_range){items[to.n - 1].begin, range.begin, items[to.n - 1].value};
	before = bytes_of(items, to.n);
	*ret_bytes = before + (puts ? range.end - range.begin : 0) - bytes_of(to.with, to.n_with);
	return to.n == 0 && to.n_with == 0 ? CTX_OK : replace(ranges, &to, err);
}

enum ctx_status ctx_ranges_cut(struct ctx_ranges *ranges, uint64_t begin, uint64_t end, uint64_t *ret_bytes,
			       struct ctx_err *err)
{
	return change(ranges, (struct ctx_range){begin, end, 0}, false, ret_bytes, err);
}

enum ctx_status ctx_ranges_put(struct ctx_ranges *ranges, struct ctx_range range, uint64_t *ret_bytes,
			       struct ctx_err *err)
{
	bool fits = !is_full(ranges);
	enum ctx_status status = change(ranges, range, fits, ret_bytes, err);

	if (status == CTX_OK && !fits)
		*ret_bytes += range.end - range.begin;
	return status;
}
