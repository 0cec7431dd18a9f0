#include "formats/gprofng/gp_map.h"

#include "base/map64.h"
#include "base/mem.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MODE_EXECUTABLE 4u
#define MAPS_MAX 20000u

struct reading {
	struct ctx_gp_map *map;
	const struct ctx_gp_tag *tag;
	size_t group; /* first dynfunc that waits for its region */
	struct ctx_err *err;
};

void ctx_gp_map_deinit(struct ctx_gp_map *map)
{
	ctx_strtab_deinit(&map->names);
	free(map->entries);
	*map = (struct ctx_gp_map){0};
}

/* Is it executable? Code may have run there before the collector saw it. */
static bool counts_back(const struct ctx_gp_map_entry *entry)
{
	return !entry->is_unmap && entry->executable && entry->size != 0;
}

static void damage(struct ctx_gp_map *map, size_t line, const char *what)
{
	if (map->damaged++ == 0)
		snprintf(map->damage, sizeof(map->damage), "map.xml: line %zu: %.180s", line, what);
}

static enum ctx_status name_of(struct reading *reading, const char *attribute, uint32_t *ret)
{
	const char *text = ctx_gp_tag_text(reading->tag, attribute);

	return ctx_strtab_add_text(&reading->map->names, text != NULL ? text : "", ret, reading->err);
}

static enum ctx_status add(struct reading *reading, const struct ctx_gp_map_entry *entry)
{
	struct ctx_gp_map *map = reading->map;
	enum ctx_status status = ctx_grow(&map->entries, &map->cap, map->n + 1, reading->err);

	if (status == CTX_OK)
		map->entries[map->n++] = *entry;
	return status;
}

/* Reads address and size. False: invalid. */
static bool take_range(const struct ctx_gp_tag *tag, struct ctx_gp_map_entry *entry)
{
	return ctx_gp_tag_number(tag, "vaddr", &entry->address) &&
	       ctx_gp_tag_number(tag, "size", &entry->size) && entry->size != 0 &&
	       entry->size - 1 <= UINT64_MAX - entry->address;
}

static enum ctx_status on_segment(struct reading *reading, struct ctx_gp_map_entry *entry)
{
	const char *name = ctx_gp_tag_text(reading->tag, "name");
	uint64_t modes = 0;
	enum ctx_status status;

	if (!take_range(reading->tag, entry) ||
	    !ctx_gp_tag_number(reading->tag, "foffset", &entry->file_offset) || name == NULL) {
		damage(reading->map, reading->tag->line, "a segment that makes no sense");
		return CTX_OK;
	}
	ctx_gp_tag_number(reading->tag, "modes", &modes);
	entry->executable = (modes & MODE_EXECUTABLE) != 0;
	if (strcmp(name, CTX_GP_TRUNCATIONS) == 0)
		reading->map->truncations = entry->address;
	status = name_of(reading, "name", &entry->path);
	return status == CTX_OK ? add(reading, entry) : status;
}

/* A function inside the next <... object="function">, which has the time. */
static enum ctx_status on_dynamic(struct reading *reading, struct ctx_gp_map_entry *entry)
{
	enum ctx_status status;

	if (!take_range(reading->tag, entry)) {
		damage(reading->map, reading->tag->line, "a function that makes no sense");
		return CTX_OK;
	}
	entry->executable = true;
	status = name_of(reading, "name", &entry->path);
	if (status == CTX_OK)
		status = name_of(reading, "funcname", &entry->function);
	return status == CTX_OK ? add(reading, entry) : status;
}

/*
 * The region around the preceding functions: it is inserted before them, so that they take
 * precedence.
 */
static enum ctx_status on_function(struct reading *reading, struct ctx_gp_map_entry *entry)
{
	struct ctx_gp_map *map = reading->map;
	enum ctx_status status;

	if (!take_range(reading->tag, entry)) {
		damage(map, reading->tag->line, "a function that makes no sense");
		reading->group = map->n;
		return CTX_OK;
	}
	entry->executable = true;
	status = name_of(reading, "name", &entry->path);
	entry->function = entry->path;
	if (status == CTX_OK)
		status = add(reading, entry);
	if (status != CTX_OK)
		return status;
	memmove(&map->entries[reading->group + 1], &map->entries[reading->group],
		(map->n - 1 - reading->group) * sizeof(*map->entries));
	map->entries[reading->group] = *entry;
	for (size_t i = reading->group; i < map->n; i++)
		map->entries[i].time_ns = entry->time_ns;
	reading->group = map->n;
	return CTX_OK;
}

static enum ctx_status on_method(struct reading *reading, struct ctx_gp_map_entry *entry)
{
	if (!take_range(reading->tag, entry) ||
	    !ctx_gp_tag_number(reading->tag, "methodId", &entry->method) || entry->method == 0) {
		damage(reading->map, reading->tag->line, "a compiled method that makes no sense");
		return CTX_OK;
	}
	entry->executable = true;
	return add(reading, entry);
}

static enum ctx_status on_unmap(struct reading *reading, struct ctx_gp_map_entry *entry)
{
	entry->is_unmap = true;
	if (!ctx_gp_tag_number(reading->tag, "vaddr", &entry->address) &&
	    !ctx_gp_tag_number(reading->tag, "methodId", &entry->method)) {
		damage(reading->map, reading->tag->line, "an unmap that makes no sense");
		return CTX_OK;
	}
	return add(reading, entry);
}

static enum ctx_status on_tag(struct reading *reading)
{
	const struct ctx_gp_tag *tag = reading->tag;
	const char *kind = ctx_gp_tag_text(tag, "kind"), *object = ctx_gp_tag_text(tag, "object");
	struct ctx_gp_map_entry entry = {.function = UINT32_MAX};
	enum ctx_status status;
	bool is_dynamic;

	if (tag->closes || strcmp(tag->name, "event") != 0 || kind == NULL)
		return CTX_OK;
	ctx_gp_tag_time(tag, "tstamp", &entry.time_ns);
	if (strcmp(kind, "map") == 0 && object == NULL)
		return CTX_OK;
	is_dynamic = strcmp(kind, "map") == 0 && strcmp(object, "dynfunc") == 0;
	if (is_dynamic)
		return on_dynamic(reading, &entry);
	if (strcmp(kind, "map") == 0 && strcmp(object, "function") == 0)
		return on_function(reading, &entry);
	if (strcmp(kind, "map") == 0 && strcmp(object, "segment") == 0)
		status = on_segment(reading, &entry);
	else if (strcmp(kind, "map") == 0 && strcmp(object, "jcm") == 0)
		status = on_method(reading, &entry);
	else if (strcmp(kind, "unmap") == 0)
		status = on_unmap(reading, &entry);
	else
		return CTX_OK;
	reading->group = reading->map->n;
	return status;
}

/* Times */

/* The last entry that began where an unmap says, or holds the method that it says; UINT32_MAX. */
static uint32_t ended_by(const struct ctx_gp_map_entry *unmap, const struct ctx_map64 *by_address,
			 const struct ctx_map64 *by_method)
{
	return unmap->method != 0 ? ctx_map64_get(by_method, unmap->method)
				  : ctx_map64_get(by_address, unmap->address);
}

/*
 * An unmap has only a start address: its size, and the map whose end it is, are taken from the last
 * map that began there.
 */
static enum ctx_status size_unmaps(struct ctx_gp_map *map, int64_t *ends, struct ctx_err *err)
{
	struct ctx_map64 by_address = {0}, by_method = {0};
	enum ctx_status status = CTX_OK;

	for (uint32_t i = 0; i < map->n && status == CTX_OK; i++) {
		struct ctx_gp_map_entry *entry = &map->entries[i];
		uint32_t *place, found;

		ends[i] = INT64_MAX;
		if (entry->is_unmap) {
			found = ended_by(entry, &by_address, &by_method);
			if (found == CTX_MAP64_NONE)
				continue;
			ends[found] = entry->time_ns;
			entry->address = map->entries[found].address;
			entry->size = map->entries[found].size;
			continue;
		}
		place = ctx_map64_place(entry->method != 0 ? &by_method : &by_address,
					entry->method != 0 ? entry->method : entry->address);
		if (place != NULL)
			*place = i;
		if (place != NULL && entry->method != 0)
			place = ctx_map64_place(&by_address, entry->address);
		if (place != NULL)
			*place = i;
		else
			status = ctx_err_nomem(err);
	}
	ctx_map64_deinit(&by_address);
	ctx_map64_deinit(&by_method);
	return status;
}

static bool overlap(const struct ctx_gp_map_entry *a, const struct ctx_gp_map_entry *b)
{
	return a->address <= b->address + (b->size - 1) && b->address <= a->address + (a->size - 1);
}

/*
 * A map counts from when its addresses became free. Functions of one region were reported at the
 * same time and do not block each other. Times of very long lists of maps are left unchanged.
 */
static void move_back(struct ctx_gp_map *map, const int64_t *ends)
{
	if (map->n > MAPS_MAX)
		return;
	for (size_t i = 0; i < map->n; i++) {
		struct ctx_gp_map_entry *entry = &map->entries[i];
		int64_t free_since = 0;

		if (!counts_back(entry))
			continue;
		for (size_t k = 0; k < i; k++) {
			const struct ctx_gp_map_entry *other = &map->entries[k];
			bool one_region = entry->function != UINT32_MAX && other->function != UINT32_MAX &&
					  entry->reported_ns == other->reported_ns;

			if (free_since < ends[k] && overlap(entry, other) && counts_back(other) &&
			    !one_region)
				free_since = ends[k];
		}
		if (free_since < entry->time_ns)
			entry->time_ns = free_since;
	}
}

static int by_time(const void *a, const void *b)
{
	const struct ctx_gp_map_entry *left = a, *right = b;

	if (left->time_ns != right->time_ns)
		return left->time_ns < right->time_ns ? -1 : 1;
	return left->order < right->order ? -1 : left->order > right->order;
}

static enum ctx_status put_in_order(struct ctx_gp_map *map, struct ctx_err *err)
{
	int64_t *ends CTX_AUTO_FREE = map->n != 0 ? ctx_calloc(map->n, sizeof(*ends)) : NULL;
	enum ctx_status status;

	if (map->n == 0)
		return CTX_OK;
	if (ends == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < map->n; i++) {
		map->entries[i].order = (uint32_t)i;
		map->entries[i].reported_ns = map->entries[i].time_ns;
	}
	status = size_unmaps(map, ends, err);
	if (status != CTX_OK)
		return status;
	move_back(map, ends);
	qsort(map->entries, map->n, sizeof(*map->entries), by_time);
	return CTX_OK;
}

enum ctx_status ctx_gp_map_parse(struct ctx_gp_map *map, struct ctx_gp_xml *xml, struct ctx_err *err)
{
	struct ctx_gp_tag tag = {0};
	struct reading reading = {.map = map, .tag = &tag, .err = err};
	struct ctx_err why = {0};
	enum ctx_status status;

	while ((status = ctx_gp_xml_next(xml, &tag, &why)) != CTX_END) {
		if (status == CTX_E_FORMAT) {
			if (map->damaged++ == 0)
				snprintf(map->damage, sizeof(map->damage), "map.xml: %.200s", why.msg);
			continue;
		}
		if (status < 0)
			return ctx_err_set(err, status, "%s", why.msg);
		status = on_tag(&reading);
		if (status != CTX_OK)
			return status;
	}
	return put_in_order(map, err);
}

enum ctx_status ctx_gp_map_read(struct ctx_gp_map *map, const char *path, struct ctx_err *err)
{
	struct ctx_gp_xml xml = {0};
	enum ctx_status status = ctx_gp_xml_open(&xml, path, err);

	if (status == CTX_OK)
		status = ctx_gp_map_parse(map, &xml, err);
	ctx_gp_xml_deinit(&xml);
	return status;
}
