#include "ingest/addrspace.h"

#include "base/mem.h"

#include <stdlib.h>

/* A map as recorded; its parts that are still mapped are ranges. */
struct ctx_addrspace_map {
	struct ctx_mapped whole;
	uint32_t n_parts; /* 0: free */
	uint32_t next;	  /* of a free entry: the next free one, as `unused` */
	bool used;	  /* an address in it was looked up */
};

void ctx_addrspace_deinit(struct ctx_addrspace *space)
{
	ctx_ranges_deinit(&space->ranges);
	free(space->maps);
	*space = (struct ctx_addrspace){0};
}

static void drop_part(struct ctx_addrspace *space, uint64_t index)
{
	struct ctx_addrspace_map *map = &space->maps[index];

	map->n_parts--;
	if (map->n_parts != 0)
		return;
	map->next = space->unused;
	space->unused = (uint32_t)index + 1;
}

/* Counts the parts of the maps before [begin, end) is replaced; a new generation if one was used. */
static void count_parts(struct ctx_addrspace *space, uint64_t begin, uint64_t end)
{
	const struct ctx_ranges *ranges = &space->ranges;
	bool used = false;

	for (size_t i = ctx_ranges_below(ranges, end); i < ranges->n && ranges->items[i].end > begin; i++) {
		const struct ctx_range *range = &ranges->items[i];
		struct ctx_addrspace_map *map = &space->maps[range->value];

		used |= map->used;
		if (range->begin < begin && range->end > end)
			map->n_parts++;
		else if (range->begin >= begin && range->end <= end)
			drop_part(space, range->value);
	}
	space->generation += used;
}

enum ctx_status ctx_addrspace_unmap(struct ctx_addrspace *space, uint64_t begin, uint64_t end,
				    struct ctx_err *err)
{
	uint64_t bytes;

	if (begin >= end)
		return CTX_OK;
	count_parts(space, begin, end);
	return ctx_ranges_cut(&space->ranges, begin, end, &bytes, err);
}

static enum ctx_status new_map(struct ctx_addrspace *space, const struct ctx_mapped *map, uint64_t *ret_index,
			       struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	if (space->unused != 0) {
		*ret_index = space->unused - 1;
		space->unused = space->maps[*ret_index].next;
	} else {
		status = ctx_grow(&space->maps, &space->cap, space->n + 1, err);
		*ret_index = space->n;
		space->n += status == CTX_OK;
	}
	if (status == CTX_OK)
		space->maps[*ret_index] = (struct ctx_addrspace_map){.whole = *map, .n_parts = 1};
	return status;
}

enum ctx_status ctx_addrspace_map(struct ctx_addrspace *space, const struct ctx_mapped *map,
				  struct ctx_err *err)
{
	struct ctx_range range = {.begin = map->begin, .end = map->end};
	enum ctx_status status;
	uint64_t bytes;

	if (map->begin >= map->end)
		return CTX_OK;
	space->ranges.max = SIZE_MAX; /* each part is counted, none is dropped */
	count_parts(space, map->begin, map->end);
	status = new_map(space, map, &range.value, err);
	if (status == CTX_OK)
		status = ctx_ranges_put(&space->ranges, range, &bytes, err);
	space->generation += map->begin < space->missed_end && map->end > space->missed_low;
	return status;
}

/* What is left of a map at this range. */
static const struct ctx_addrspace_map *part_at(const struct ctx_addrspace *space,
					       const struct ctx_range *range, struct ctx_mapped *ret)
{
	const struct ctx_addrspace_map *map = &space->maps[range->value];

	*ret = map->whole;
	ret->begin = range->begin;
	ret->end = range->end;
	ret->file_offset += range->begin - map->whole.begin;
	return map;
}

static const struct ctx_addrspace_map *find(const struct ctx_addrspace *space, uint64_t address,
					    struct ctx_mapped *ret)
{
	const struct ctx_range *range = ctx_ranges_find(&space->ranges, address, NULL);

	return range != NULL ? part_at(space, range, ret) : NULL;
}

bool ctx_addrspace_find(struct ctx_addrspace *space, uint64_t address, struct ctx_mapped *ret)
{
	const struct ctx_addrspace_map *map = find(space, address, ret);

	if (map != NULL) {
		space->maps[map - space->maps].used = true;
		return true;
	}
	if (space->missed_end == 0 || address < space->missed_low)
		space->missed_low = address;
	if (address >= space->missed_end)
		space->missed_end = address + 1;
	return false;
}

bool ctx_addrspace_part(const struct ctx_addrspace *space, size_t i, struct ctx_mapped *ret)
{
	return i < space->ranges.n && part_at(space, &space->ranges.items[i], ret) != NULL;
}

bool ctx_addrspace_peek(const struct ctx_addrspace *space, uint64_t address, struct ctx_mapped *ret)
{
	return find(space, address, ret) != NULL;
}
