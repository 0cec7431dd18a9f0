#include "formats/export/gprofng_places.h"

#include "base/bisect.h"
#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FREE_BEGIN ((uint64_t)1 << 44) /* an area without mappings */
#define FREE_STEP ((uint64_t)1 << 32)
#define TRIES 65536u

static int by_process(const void *a, const void *b)
{
	const struct ctx_mapping_info *left = a, *right = b;

	if (left->process != right->process)
		return left->process < right->process ? -1 : 1;
	if (left->object != right->object)
		return left->object < right->object ? -1 : 1;
	if (left->life.begin_ns != right->life.begin_ns)
		return left->life.begin_ns < right->life.begin_ns ? -1 : 1;
	return (left->address > right->address) - (left->address < right->address);
}

enum ctx_status ctx_gpx_places_init(struct ctx_gpx_places *places, const struct ctx_export_input *input,
				    const struct ctx_gpx_objects *objects, struct ctx_err *err)
{
	const struct ctx_mapping_info *mappings;
	size_t n;
	enum ctx_status status = input->source->mappings(input->source, &mappings, &n, err);

	*places = (struct ctx_gpx_places){.objects = objects};
	if (status != CTX_OK)
		return status;
	places->mappings = ctx_calloc(n, sizeof(*places->mappings));
	places->places = ctx_calloc(objects->n, sizeof(*places->places));
	if (places->mappings == NULL || places->places == NULL)
		return ctx_err_nomem(err);
	places->n_mappings = n;
	if (n != 0) {
		memcpy(places->mappings, mappings, n * sizeof(*places->mappings));
		qsort(places->mappings, n, sizeof(*places->mappings), by_process);
	}
	return CTX_OK;
}

void ctx_gpx_places_deinit(struct ctx_gpx_places *places)
{
	free(places->mappings);
	free(places->places);
	free(places->ranges);
	*places = (struct ctx_gpx_places){0};
}

void ctx_gpx_places_begin(struct ctx_gpx_places *places, uint32_t process)
{
	places->process = process;
	places->turn++;
	places->n_ranges = 0;
}

static bool is_before(const void *items, size_t i, uint64_t key)
{
	const struct ctx_mapping_info *mappings = items;

	return ((uint64_t)mappings[i].process << 32 | mappings[i].object) < key;
}

/* The first mapping of the object in the process. */
static const struct ctx_mapping_info *find_mapping(const struct ctx_gpx_places *places, uint32_t process,
						   uint32_t object)
{
	size_t at =
		ctx_bisect(places->mappings, places->n_mappings, is_before, (uint64_t)process << 32 | object);

	if (at < places->n_mappings && places->mappings[at].process == process &&
	    places->mappings[at].object == object)
		return &places->mappings[at];
	return NULL;
}

/*
 * The address in the object at an offset of its file; in a synthetic or unknown file the two are
 * equal.
 */
static uint64_t address_at(const struct ctx_gpx_object *object, uint64_t file_offset)
{
	for (size_t i = 0; object->is_copy && i < object->n_segments; i++) {
		const struct ctx_gpx_segment *segment = &object->segments[i];

		if (segment->file_offset <= file_offset && file_offset - segment->file_offset < segment->size)
			return segment->address + (file_offset - segment->file_offset);
	}
	return file_offset;
}

/* Index of the first range that ends after `address`. */
static size_t find_range(const struct ctx_gpx_places *places, uint64_t address)
{
	return ctx_count_up_to(places->ranges, places->n_ranges, end, address);
}

/* Is the range free, and does the object not wrap around the end of the address space? */
static bool is_free(const struct ctx_gpx_places *places, const struct ctx_gpx_object *object, uint64_t bias)
{
	for (size_t i = 0; i < object->n_segments; i++) {
		uint64_t begin = object->segments[i].address + bias, size = object->segments[i].size;
		size_t at;

		if (begin == 0 || begin > UINT64_MAX - size)
			return false;
		at = find_range(places, begin);
		if (at < places->n_ranges && places->ranges[at].begin < begin + size)
			return false;
	}
	return true;
}

static enum ctx_status add_ranges(struct ctx_gpx_places *places, uint32_t id, uint64_t bias,
				  struct ctx_err *err)
{
	const struct ctx_gpx_object *object = &places->objects->items[id];

	if (ctx_grow(&places->ranges, &places->ranges_cap, places->n_ranges + object->n_segments, err) !=
	    CTX_OK)
		return CTX_E_NOMEM;
	for (size_t i = 0; i < object->n_segments; i++) {
		uint64_t begin = object->segments[i].address + bias;
		size_t at = find_range(places, begin);

		memmove(&places->ranges[at + 1], &places->ranges[at],
			(places->n_ranges - at) * sizeof(*places->ranges));
		places->ranges[at] = (struct ctx_gpx_range){.begin = begin,
							    .end = begin + object->segments[i].size,
							    .object = id,
							    .file_offset = object->segments[i].file_offset};
		places->n_ranges++;
	}
	return CTX_OK;
}

enum ctx_status ctx_gpx_places_put(struct ctx_gpx_places *places, uint32_t object, struct ctx_err *err)
{
	const struct ctx_gpx_object *info = &places->objects->items[object];
	struct ctx_gpx_place_of *place = &places->places[object];
	const struct ctx_mapping_info *mapping;
	uint64_t bias = 0;

	if (place->turn == places->turn)
		return CTX_OK;
	mapping = find_mapping(places, places->process, object);
	if (mapping == NULL)
		mapping = find_mapping(places, CTX_NONE, object);
	if (mapping != NULL)
		bias = mapping->address - address_at(info, mapping->file_offset);
	if (!is_free(places, info, bias)) {
		unsigned tries = 0;

		places->n_moved++;
		bias = FREE_BEGIN - (info->n_segments != 0 ? info->segments[0].address : 0);
		while (!is_free(places, info, bias) && tries++ < TRIES)
			bias += FREE_STEP;
		if (tries > TRIES)
			return ctx_err_set(err, CTX_E_LIMIT, "%s: no room for it", info->name);
	}
	*place = (struct ctx_gpx_place_of){places->turn, bias, mapping != NULL ? mapping->life.begin_ns : 0};
	return add_ranges(places, object, bias, err);
}

uint64_t ctx_gpx_places_address(const struct ctx_gpx_places *places, uint32_t object, uint64_t address)
{
	return address + places->places[object].bias;
}

bool ctx_gpx_places_has(const struct ctx_gpx_places *places, uint64_t address)
{
	size_t at = find_range(places, address);

	return at < places->n_ranges && places->ranges[at].begin <= address;
}
