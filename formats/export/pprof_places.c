#include "formats/export/pprof_places.h"

#include "base/mem.h"
#include "elf/elf_file.h"

#include <stdlib.h>

#define PAGE ((uint64_t)4096)
#define FREE_BEGIN ((uint64_t)1 << 44) /* an area without mappings */
#define FREE_STEP ((uint64_t)1 << 32)
#define TRIES 65536u

/* The recorded mappings by object, in their own order. */
struct recorded {
	const struct ctx_mapping_info **items; /* owned */
	size_t *first;			       /* owned; by object, and the end of the last */
};

/* Those of one object. */
struct mapped {
	const struct ctx_mapping_info *const *items;
	size_t n;
	const struct ctx_pprof_extent *extent; /* of the object's addresses */
};

static uint64_t page_begin(uint64_t address)
{
	return address - address % PAGE;
}

static uint64_t page_end(uint64_t address)
{
	return address > UINT64_MAX - PAGE ? page_begin(address) : page_begin(address + PAGE - 1);
}

static void recorded_deinit(struct recorded *recorded)
{
	free(recorded->items);
	free(recorded->first);
}

static enum ctx_status recorded_init(struct recorded *recorded, const struct ctx_export_input *input,
				     struct ctx_err *err)
{
	uint32_t n_objects = input->profile->n_objects;
	const struct ctx_mapping_info *mappings = NULL;
	size_t n = 0, at = 0;
	enum ctx_status status = input->source->mappings(input->source, &mappings, &n, err);

	if (status != CTX_OK)
		return status;
	recorded->items = ctx_calloc(n + 1, sizeof(*recorded->items));
	recorded->first = ctx_calloc((size_t)n_objects + 2, sizeof(*recorded->first));
	if (recorded->items == NULL || recorded->first == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < n; i++) {
		if (mappings[i].object < n_objects)
			recorded->first[mappings[i].object + 2]++;
	}
	for (uint32_t i = 0; i <= n_objects; i++)
		recorded->first[i + 1] = at += recorded->first[i + 1];
	for (size_t i = 0; i < n; i++) {
		if (mappings[i].object < n_objects)
			recorded->items[recorded->first[mappings[i].object + 1]++] = &mappings[i];
	}
	return CTX_OK;
}

static struct mapped mapped_of(const struct recorded *recorded, uint32_t object,
			       const struct ctx_pprof_extent *extent)
{
	return (struct mapped){recorded->items + recorded->first[object],
			       recorded->first[object + 1] - recorded->first[object], extent};
}

/* Pieces of an object that overlap one it has already are left out. */
static enum ctx_status add_piece(struct ctx_pprof_places *places, const struct ctx_pprof_piece *piece,
				 struct ctx_err *err)
{
	for (size_t i = places->first[piece->object]; i < places->n; i++) {
		if (piece->begin < places->pieces[i].end && places->pieces[i].begin < piece->end)
			return CTX_OK;
	}
	if (piece->begin >= piece->end)
		return CTX_OK;
	if (ctx_grow(&places->pieces, &places->cap, places->n + 1, err) != CTX_OK)
		return CTX_E_NOMEM;
	places->pieces[places->n++] = *piece;
	places->count[piece->object]++;
	return CTX_OK;
}

static enum ctx_status add_segments(struct ctx_pprof_places *places, uint32_t object,
				    const struct ctx_elf_file *file, struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < file->n_segments && status == CTX_OK; i++) {
		const struct ctx_elf_segment *segment = &file->segments[i];
		uint64_t lead = segment->address % PAGE;

		if (segment->file_size == 0 || segment->offset % PAGE != lead)
			continue;
		status = add_piece(
			places,
			&(struct ctx_pprof_piece){.object = object,
						  .begin = segment->address - lead,
						  .end = page_end(segment->address + segment->file_size),
						  .file_offset = segment->offset - lead},
			err);
	}
	return status;
}

/* The executable segments of the object's file; none where it is not available, or no ELF file. */
static enum ctx_status read_segments(struct ctx_pprof_places *places, uint32_t object, struct ctx_err *err)
{
	struct ctx_report_source *source = places->input->source;
	struct ctx_elf_file file = {.fd = -1};
	struct ctx_buf image = {0};
	enum ctx_status status;

	if (source->object_file == NULL || places->input->profile->objects[object].path[0] != '/')
		return CTX_OK;
	status = source->object_file(source, object, &image, err);
	if (status == CTX_OK) {
		status = ctx_elf_open_image(&file, &image, err);
		if (status == CTX_OK)
			status = add_segments(places, object, &file, err);
		ctx_elf_close(&file);
	}
	ctx_buf_deinit(&image);
	return status == CTX_E_NOMEM ? status : CTX_OK;
}

/* Where the first mapping of one of the pieces puts the object; 0 without such a mapping. */
static uint64_t bias_of_pieces(const struct ctx_pprof_places *places, uint32_t object, struct mapped mapped)
{
	const struct ctx_pprof_piece *pieces = places->pieces + places->first[object];

	for (size_t i = 0; i < mapped.n; i++) {
		for (size_t k = 0; k < places->count[object]; k++) {
			uint64_t inside = mapped.items[i]->file_offset - pieces[k].file_offset;

			if (inside < pieces[k].end - pieces[k].begin)
				return mapped.items[i]->address - (pieces[k].begin + inside);
		}
	}
	return 0;
}

/* What a mapping holds if addresses of the object are file offsets (`by_offset`), or as mapped. */
static bool holds(const struct ctx_mapping_info *mapping, bool by_offset, uint64_t address)
{
	return address - (by_offset ? mapping->file_offset : mapping->address) < mapping->size;
}

/*
 * Pieces from the mappings of the first process that had the object. Without its file its addresses are file
 * offsets, or, for a program at a fixed address, those of the process: the extent says which.
 */
static enum ctx_status use_mappings(struct ctx_pprof_places *places, uint32_t object, struct mapped mapped,
				    uint64_t *ret_bias, struct ctx_err *err)
{
	uint64_t low = mapped.extent->low;
	const struct ctx_mapping_info *found = NULL;
	bool by_offset = true;
	enum ctx_status status = CTX_OK;

	for (size_t i = 0; i < mapped.n && found == NULL; i++) {
		by_offset = holds(mapped.items[i], true, low);
		if (by_offset || holds(mapped.items[i], false, low))
			found = mapped.items[i];
	}
	if (found == NULL)
		return CTX_OK;
	*ret_bias = by_offset ? found->address - found->file_offset : 0;
	for (size_t i = 0; i < mapped.n && status == CTX_OK; i++) {
		const struct ctx_mapping_info *mapping = mapped.items[i];
		uint64_t begin = by_offset ? mapping->file_offset : mapping->address;

		if (mapping->process != found->process || begin + *ret_bias != mapping->address ||
		    mapping->size > UINT64_MAX - begin)
			continue;
		status = add_piece(places,
				   &(struct ctx_pprof_piece){.object = object,
							     .begin = begin,
							     .end = begin + mapping->size,
							     .file_offset = mapping->file_offset},
				   err);
	}
	return status;
}

static bool overlaps(const struct ctx_pprof_places *places, size_t n, uint64_t begin, uint64_t end)
{
	for (size_t i = 0; i < n; i++) {
		const struct ctx_pprof_piece *other = &places->pieces[i];

		if (begin < other->end + other->bias && other->begin + other->bias < end)
			return true;
	}
	return false;
}

/* Whether the object's pieces, the last ones, are apart from all others and do not wrap around. */
static bool is_free(const struct ctx_pprof_places *places, uint32_t object, uint64_t bias)
{
	size_t first = places->first[object];

	for (size_t i = first; i < places->n; i++) {
		uint64_t begin = places->pieces[i].begin + bias, end = places->pieces[i].end + bias;

		if (begin >= end || overlaps(places, first, begin, end))
			return false;
	}
	return true;
}

/*
 * Sets the object's bias: `bias`, or where that is taken `otherwise`, or a place in the free area. An object that
 * finds no room loses its pieces, and its locations their addresses.
 */
static void put(struct ctx_pprof_places *places, uint32_t object, uint64_t bias, uint64_t otherwise)
{
	size_t first = places->first[object];

	if (!is_free(places, object, bias))
		bias = otherwise;
	if (!is_free(places, object, bias)) {
		uint64_t floor = places->pieces[first].begin;

		do
			bias = FREE_BEGIN + FREE_STEP * places->n_moved++ - floor;
		while (places->n_moved < TRIES && !is_free(places, object, bias));
		if (places->n_moved >= TRIES) {
			places->n = first;
			places->count[object] = 0;
		}
	}
	for (size_t i = first; i < places->n; i++)
		places->pieces[i].bias = bias;
}

static enum ctx_status place(struct ctx_pprof_places *places, uint32_t object, struct mapped mapped,
			     struct ctx_err *err)
{
	uint64_t bias = 0;
	enum ctx_status status;

	places->first[object] = places->n;
	status = read_segments(places, object, err);
	if (status != CTX_OK)
		return status;
	if (places->count[object] != 0) {
		put(places, object, 0, bias_of_pieces(places, object, mapped));
		return CTX_OK;
	}
	if (ctx_object_is_kernel(places->input->profile->objects[object].path))
		status = add_piece(places,
				   &(struct ctx_pprof_piece){.object = object,
							     .begin = page_begin(mapped.extent->low),
							     .end = page_end(mapped.extent->high + 1)},
				   err);
	else
		status = use_mappings(places, object, mapped, &bias, err);
	if (status == CTX_OK && places->count[object] != 0)
		put(places, object, bias, bias);
	return status;
}

enum ctx_status ctx_pprof_places_init(struct ctx_pprof_places *places, const struct ctx_export_input *input,
				      const struct ctx_pprof_extent *extents, uint32_t first,
				      struct ctx_err *err)
{
	uint32_t n = input->profile->n_objects;
	struct recorded recorded = {0};
	enum ctx_status status;

	*places = (struct ctx_pprof_places){.input = input};
	places->first = ctx_calloc(n, sizeof(*places->first));
	places->count = ctx_calloc(n, sizeof(*places->count));
	if (places->first == NULL || places->count == NULL)
		return ctx_err_nomem(err);
	status = recorded_init(&recorded, input, err);
	if (first < n && extents[first].any && status == CTX_OK)
		status = place(places, first, mapped_of(&recorded, first, &extents[first]), err);
	for (uint32_t i = 0; i < n && status == CTX_OK; i++) {
		if (extents[i].any && i != first)
			status = place(places, i, mapped_of(&recorded, i, &extents[i]), err);
	}
	recorded_deinit(&recorded);
	return status;
}

void ctx_pprof_places_deinit(struct ctx_pprof_places *places)
{
	free(places->pieces);
	free(places->first);
	free(places->count);
	*places = (struct ctx_pprof_places){0};
}

const struct ctx_pprof_piece *ctx_pprof_places_find(const struct ctx_pprof_places *places, uint32_t object,
						    uint64_t address)
{
	const struct ctx_pprof_piece *piece =
		places->pieces != NULL ? places->pieces + places->first[object] : NULL;

	for (size_t i = 0; i < places->count[object]; i++, piece++) {
		if (address >= piece->begin && address < piece->end)
			return piece;
	}
	return NULL;
}
