#include "collect/data_maps.h"

#include "base/mem.h"
#include "collect/procfs.h"
#include "model/data_source.h"
#include "model/event_source.h"

#include <string.h>

#define NAMES_MAX 65536u /* further ones share one */
#define OTHER_NAMES "<Others>"

struct ctx_data_space {
	struct ctx_ranges ranges; /* values: numbers of names */
	bool is_used;
};

void ctx_data_maps_deinit(struct ctx_data_maps *maps)
{
	for (size_t i = 0; i < maps->n; i++)
		ctx_ranges_deinit(&maps->spaces[i].ranges);
	free(maps->spaces);
	ctx_map64_deinit(&maps->place_of_pid);
	ctx_strtab_deinit(&maps->names);
	*maps = (struct ctx_data_maps){0};
}

static struct ctx_data_space *find_space(const struct ctx_data_maps *maps, int64_t pid)
{
	uint32_t place = ctx_map64_get(&maps->place_of_pid, (uint64_t)pid);

	return place != CTX_MAP64_NONE ? &maps->spaces[place] : NULL;
}

/* One that is not used any more, else a new one. */
static enum ctx_status free_place(struct ctx_data_maps *maps, size_t *ret, struct ctx_err *err)
{
	enum ctx_status status;
	size_t i = 0;

	while (i < maps->n && maps->spaces[i].is_used)
		i++;
	*ret = i;
	if (i < maps->n)
		return CTX_OK;
	status = ctx_grow(&maps->spaces, &maps->cap, maps->n + 1, err);
	if (status == CTX_OK)
		maps->spaces[maps->n++] = (struct ctx_data_space){0};
	return status;
}

/* The process's space, empty. */
static enum ctx_status begin_space(struct ctx_data_maps *maps, int64_t pid, struct ctx_data_space **ret,
				   struct ctx_err *err)
{
	struct ctx_data_space *space = find_space(maps, pid);
	enum ctx_status status;
	uint32_t *place;
	size_t i;

	if (space == NULL) {
		status = free_place(maps, &i, err);
		if (status != CTX_OK)
			return status;
		place = ctx_map64_place(&maps->place_of_pid, (uint64_t)pid);
		if (place == NULL)
			return ctx_err_nomem(err);
		*place = (uint32_t)i;
		space = &maps->spaces[i];
	}
	ctx_ranges_deinit(&space->ranges);
	*space = (struct ctx_data_space){.is_used = true};
	*ret = space;
	return CTX_OK;
}

static enum ctx_status put(struct ctx_data_maps *maps, struct ctx_data_space *space, struct ctx_range range,
			   const char *name, struct ctx_err *err)
{
	enum ctx_status status;
	uint64_t unused;
	uint32_t id;

	if (range.end <= range.begin)
		return CTX_OK;
	if (maps->names.n >= NAMES_MAX && ctx_strtab_find(&maps->names, name, strlen(name)) == UINT32_MAX)
		name = OTHER_NAMES;
	status = ctx_strtab_add_text(&maps->names, name, &id, err);
	if (status != CTX_OK)
		return status;
	range.value = id;
	return ctx_ranges_put(&space->ranges, range, &unused, err);
}

/* A process that was there before the recording; of one that has ended nothing is known. */
static enum ctx_status read_space(struct ctx_data_maps *maps, int64_t pid, struct ctx_data_space **ret,
				  struct ctx_err *err)
{
	struct ctx_buf text CTX_AUTO_BUF = {0};
	enum ctx_status status = begin_space(maps, pid, ret, err);
	struct ctx_procfs_map map;
	char *rest;

	if (status != CTX_OK || ctx_procfs_maps(pid, &text, NULL) < CTX_OK)
		return status;
	rest = (char *)text.bytes;
	while (status == CTX_OK && ctx_procfs_next_range(&rest, &map))
		status = put(maps, *ret,
			     (struct ctx_range){.begin = map.address, .end = map.address + map.size},
			     map.path, err);
	return status;
}

static enum ctx_status take_map(struct ctx_data_maps *maps, const struct ctx_perf_record *record,
				struct ctx_err *err)
{
	const struct ctx_pe_mmap *map = &record->mmap;
	struct ctx_data_space *space = find_space(maps, record->pid);
	enum ctx_status status = space != NULL ? CTX_OK : read_space(maps, record->pid, &space, err);

	if (status != CTX_OK || map->size > UINT64_MAX - map->address)
		return status;
	return put(maps, space, (struct ctx_range){.begin = map->address, .end = map->address + map->size},
		   map->path, err);
}

/* A child of a known process has its parent's maps. */
static enum ctx_status take_fork(struct ctx_data_maps *maps, const struct ctx_perf_record *record,
				 struct ctx_err *err)
{
	const struct ctx_data_space *parent;
	struct ctx_data_space *child;
	enum ctx_status status;

	if (record->pid == (uint32_t)record->task.parent_pid ||
	    find_space(maps, record->task.parent_pid) == NULL)
		return CTX_OK;
	status = begin_space(maps, record->pid, &child, err);
	if (status != CTX_OK)
		return status;
	parent = find_space(maps, record->task.parent_pid); /* it may have moved */
	status = ctx_grow(&child->ranges.items, &child->ranges.cap, parent->ranges.n + 1, err);
	if (status != CTX_OK)
		return status;
	if (parent->ranges.n != 0)
		memcpy(child->ranges.items, parent->ranges.items,
		       parent->ranges.n * sizeof(*child->ranges.items));
	child->ranges.n = parent->ranges.n;
	return CTX_OK;
}

static void forget(struct ctx_data_maps *maps, int64_t pid)
{
	struct ctx_data_space *space = find_space(maps, pid);

	if (space == NULL)
		return;
	ctx_ranges_deinit(&space->ranges);
	*space = (struct ctx_data_space){0};
	ctx_map64_remove(&maps->place_of_pid, (uint64_t)pid);
}

enum ctx_status ctx_data_maps_record(struct ctx_data_maps *maps, const struct ctx_perf_record *record,
				     struct ctx_err *err)
{
	struct ctx_data_space *space;

	switch (record->type) {
	case PERF_RECORD_MMAP2:
		return take_map(maps, record, err);
	case PERF_RECORD_FORK:
		return take_fork(maps, record, err);
	case PERF_RECORD_COMM:
		return (record->misc & PERF_RECORD_MISC_COMM_EXEC) != 0
			       ? begin_space(maps, record->pid, &space, err)
			       : CTX_OK;
	case PERF_RECORD_EXIT:
		if (record->pid == record->tid)
			forget(maps, record->pid);
		return CTX_OK;
	default:
		return CTX_OK;
	}
}

/* The range whose stack has grown down to the address; NULL: none. */
static const struct ctx_range *grown_stack(const struct ctx_data_maps *maps, const struct ctx_ranges *ranges,
					   uint64_t address)
{
	size_t below = ctx_ranges_below(ranges, address);
	const struct ctx_range *above = below > 0 && below <= ranges->n ? &ranges->items[below - 1] : NULL;

	return above != NULL && above->begin > address && above->begin - address <= CTX_STACK_GROWTH_MAX &&
			       strcmp(ctx_strtab_get(&maps->names, (uint32_t)above->value), "[stack]") == 0
		       ? above
		       : NULL;
}

enum ctx_status ctx_data_maps_find(struct ctx_data_maps *maps, int64_t pid, uint64_t address,
				   const char **ret, struct ctx_err *err)
{
	struct ctx_data_space *space = find_space(maps, pid);
	const struct ctx_range *range;
	enum ctx_status status = CTX_OK;

	*ret = address >= CTX_KERNEL_START ? "[kernel]" : NULL;
	if (*ret != NULL)
		return CTX_OK;
	if (space == NULL)
		status = read_space(maps, pid, &space, err);
	if (status != CTX_OK)
		return status;
	range = ctx_ranges_find(&space->ranges, address, NULL);
	if (range == NULL)
		range = grown_stack(maps, &space->ranges, address);
	if (range != NULL)
		*ret = ctx_strtab_get(&maps->names, (uint32_t)range->value);
	return CTX_OK;
}
