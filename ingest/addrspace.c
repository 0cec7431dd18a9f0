#include "ingest/addrspace.h"

#include "base/bisect.h"
#include "base/mem.h"

#include <string.h>

void ctx_addrspace_deinit(struct ctx_addrspace *space)
{
	free(space->maps);
	*space = (struct ctx_addrspace){0};
}

/* Index of the first map that ends after `address`. */
static size_t first_ending_after(const struct ctx_addrspace *space, uint64_t address)
{
	return ctx_count_up_to(space->maps, space->n, end, address);
}

static enum ctx_status insert_at(struct ctx_addrspace *space, size_t at, const struct ctx_mapped *map,
				 struct ctx_err *err)
{
	enum ctx_status status = ctx_grow(&space->maps, &space->cap, space->n + 1, err);

	if (status != CTX_OK)
		return status;
	memmove(&space->maps[at + 1], &space->maps[at], (space->n - at) * sizeof(*space->maps));
	space->maps[at] = *map;
	space->n++;
	return CTX_OK;
}

static struct ctx_mapped without_front(struct ctx_mapped map, uint64_t new_begin)
{
	map.file_offset += new_begin - map.begin;
	map.begin = new_begin;
	return map;
}

/*
 * Whether an address was looked up in one of the maps from index `at` on that begin before `end`.
 */
static bool is_used(const struct ctx_addrspace *space, size_t at, uint64_t end)
{
	for (; at < space->n && space->maps[at].begin < end; at++) {
		if (space->maps[at].used)
			return true;
	}
	return false;
}

enum ctx_status ctx_addrspace_unmap(struct ctx_addrspace *space, uint64_t begin, uint64_t end,
				    struct ctx_err *err)
{
	size_t from = first_ending_after(space, begin);
	size_t to;

	if (begin >= end)
		return CTX_OK;
	space->generation += is_used(space, from, end);
	if (from < space->n && space->maps[from].begin < begin && space->maps[from].end > end) {
		struct ctx_mapped back = without_front(space->maps[from], end);
		enum ctx_status status = insert_at(space, from + 1, &back, err);

		if (status != CTX_OK)
			return status;
		space->maps[from].end = begin;
		return CTX_OK;
	}
	if (from < space->n && space->maps[from].begin < begin) {
		space->maps[from].end = begin;
		from++;
	}
	for (to = from; to < space->n && space->maps[to].end <= end; to++)
		;
	if (to < space->n && space->maps[to].begin < end)
		space->maps[to] = without_front(space->maps[to], end);
	if (to > from) {
		memmove(&space->maps[from], &space->maps[to], (space->n - to) * sizeof(*space->maps));
		space->n -= to - from;
	}
	return CTX_OK;
}

enum ctx_status ctx_addrspace_map(struct ctx_addrspace *space, const struct ctx_mapped *map,
				  struct ctx_err *err)
{
	enum ctx_status status;

	if (map->begin >= map->end)
		return CTX_OK;
	status = ctx_addrspace_unmap(space, map->begin, map->end, err);
	if (status != CTX_OK)
		return status;
	space->generation += map->begin < space->missed_end && map->end > space->missed_low;
	return insert_at(space, first_ending_after(space, map->begin), map, err);
}

const struct ctx_mapped *ctx_addrspace_find(struct ctx_addrspace *space, uint64_t address)
{
	size_t at = first_ending_after(space, address);

	if (at < space->n && space->maps[at].begin <= address) {
		space->maps[at].used = true;
		return &space->maps[at];
	}
	if (space->missed_end == 0 || address < space->missed_low)
		space->missed_low = address;
	if (address >= space->missed_end)
		space->missed_end = address + 1;
	return NULL;
}

const struct ctx_mapped *ctx_addrspace_peek(const struct ctx_addrspace *space, uint64_t address)
{
	size_t at = first_ending_after(space, address);

	return at < space->n && space->maps[at].begin <= address ? &space->maps[at] : NULL;
}
