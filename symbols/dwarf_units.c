#include "symbols/dwarf_units.h"

#include "base/mem.h"
#include "symbols/dwarf_unit_read.h"

#include <dwarf.h>

void ctx_dwarf_units_deinit(struct ctx_dwarf_units *units)
{
	for (size_t i = 0; i < units->n; i++) {
		if (units->items[i].unit != NULL)
			ctx_dwarf_unit_deinit(units->items[i].unit);
		free(units->items[i].unit);
	}
	free(units->items);
	ctx_rangemap_deinit(&units->stated);
	ctx_rangemap_deinit(&units->unstated);
	*units = (struct ctx_dwarf_units){0};
}

/* Of overlapping ranges the smaller one wins: a unit may have one range around all of its code. */
static enum ctx_status add_range(struct ctx_rangemap *map, uint64_t begin, uint64_t end, uint32_t index,
				 struct ctx_err *err)
{
	return ctx_rangemap_add(
		map,
		(struct ctx_rangemap_item){
			.begin = begin, .end = end, .rank = UINT64_MAX - (end - begin), .value = index},
		err);
}

static enum ctx_status add_ranges(struct ctx_dwarf_units *units, struct ctx_dwarf_reader *reader,
				  uint32_t index, Dwarf_Die *die, struct ctx_err *err)
{
	Dwarf_Addr base, begin, end;
	enum ctx_status status = CTX_OK;
	ptrdiff_t at = 0;

	if (!ctx_dwarf_bounds_take_ranges(&reader->bounds, die, die))
		return CTX_OK;
	while (status == CTX_OK && (at = dwarf_ranges(die, at, &base, &begin, &end)) > 0) {
		if (begin >= end || ctx_dwarf_file_code(reader->file, begin) == NULL)
			continue;
		units->items[index].has_ranges = true;
		status = add_range(&units->stated, begin, end, index, err);
	}
	return status;
}

static enum ctx_status add_unit(struct ctx_dwarf_units *units, struct ctx_dwarf_reader *reader,
				Dwarf_Off offset, struct ctx_err *err)
{
	enum ctx_status status;
	Dwarf_Die die;
	int tag;

	if (dwarf_offdie(reader->file->dwarf, offset, &die) == NULL)
		return CTX_OK;
	tag = dwarf_tag(&die);
	if ((tag != DW_TAG_compile_unit && tag != DW_TAG_skeleton_unit) || units->n >= CTX_RANGEMAP_NONE)
		return CTX_OK;
	status = ctx_grow(&units->items, &units->cap, units->n + 1, err);
	if (status != CTX_OK)
		return status;
	units->items[units->n++] = (struct ctx_dwarf_units_item){.offset = offset};
	return add_ranges(units, reader, (uint32_t)units->n - 1, &die, err);
}

enum ctx_status ctx_dwarf_units_list(struct ctx_dwarf_units *units, struct ctx_dwarf_reader *reader,
				     struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	Dwarf_Off offset = 0, next;
	size_t header;

	/* A damaged header ends the list: the start of the next unit is unknown. */
	while (status == CTX_OK &&
	       dwarf_next_unit(reader->file->dwarf, offset, &next, &header, NULL, NULL, NULL, NULL, NULL,
			       NULL) == 0 &&
	       next > offset) {
		status = add_unit(units, reader, offset + header, err);
		offset = next;
	}
	return status == CTX_OK ? ctx_rangemap_freeze(&units->stated, err) : status;
}

struct loading {
	struct ctx_dwarf_reader *reader;
	struct ctx_dwarf_unit *unit;
	Dwarf_Off offset;
};

static enum ctx_status run_load(void *context, struct ctx_err *err)
{
	struct loading *loading = context;

	return ctx_dwarf_unit_read(loading->unit, loading->reader, loading->offset, err);
}

/* A unit that could not be read completely stays unread. */
static enum ctx_status load(struct ctx_dwarf_units_item *item, struct ctx_dwarf_reader *reader,
			    struct ctx_err *err)
{
	struct loading loading = {.reader = reader, .offset = item->offset};
	enum ctx_status status;

	if (item->unit != NULL)
		return CTX_OK;
	loading.unit = ctx_calloc(1, sizeof(*loading.unit));
	if (loading.unit == NULL)
		return ctx_err_nomem(err);
	status = ctx_dwarf_file_run(reader->file, run_load, &loading, err);
	if (status == CTX_OK) {
		item->unit = loading.unit;
		return CTX_OK;
	}
	ctx_dwarf_unit_deinit(loading.unit);
	free(loading.unit);
	return status;
}

static enum ctx_status add_unstated(struct ctx_dwarf_units *units, uint32_t index, struct ctx_err *err)
{
	const struct ctx_ranges *places = &units->items[index].unit->places.ranges;
	enum ctx_status status = CTX_OK;

	for (size_t i = places->n; i-- > 0 && status == CTX_OK;)
		status =
			add_range(&units->unstated, places->items[i].begin, places->items[i].end, index, err);
	return status;
}

static enum ctx_status read_unstated(struct ctx_dwarf_units *units, struct ctx_dwarf_reader *reader,
				     struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	ctx_rangemap_deinit(&units->unstated);
	for (size_t i = 0; i < units->n && status == CTX_OK; i++) {
		if (units->items[i].has_ranges)
			continue;
		status = load(&units->items[i], reader, err);
		if (status == CTX_OK)
			status = add_unstated(units, (uint32_t)i, err);
	}
	if (status == CTX_OK)
		status = ctx_rangemap_freeze(&units->unstated, err);
	if (status == CTX_OK)
		units->all_read = true;
	return status;
}

enum ctx_status ctx_dwarf_units_find(struct ctx_dwarf_units *units, struct ctx_dwarf_reader *reader,
				     uint64_t address, struct ctx_dwarf_found *ret, struct ctx_err *err)
{
	uint64_t end, unstated_end;
	uint32_t index = ctx_rangemap_find(&units->stated, address, &end);
	enum ctx_status status = CTX_OK;

	if (index == CTX_RANGEMAP_NONE && ctx_dwarf_file_code(reader->file, address) != NULL) {
		if (!units->all_read)
			status = read_unstated(units, reader, err);
		if (status != CTX_OK)
			return status;
		index = ctx_rangemap_find(&units->unstated, address, &unstated_end);
		if (unstated_end < end)
			end = unstated_end;
	}
	if (index != CTX_RANGEMAP_NONE)
		status = load(&units->items[index], reader, err);
	if (status != CTX_OK)
		return status;
	ret->unit = index != CTX_RANGEMAP_NONE ? units->items[index].unit : NULL;
	ret->end = end;
	return CTX_OK;
}
