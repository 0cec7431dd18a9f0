#include "formats/export/gprofng_frames.h"

#include "base/fileio.h"
#include "base/mem.h"
#include "formats/export/gprofng_blocks.h"

#include <stdlib.h>
#include <string.h>

#define STEP 32u /* distance in depth between stacks that are always written */
#define TYPE_FRAMES 11u
#define HEAD_BYTES 16u
#define INFO_BYTES 16u
#define NATIVE 1u
#define LINKED 0x80000000u
#define TRUNCATED ((uint64_t)-2)
#define UNWIND_FAILED ((uint64_t)-3)
#define NOWHERE 1u /* an address outside every program */

/*
 * Numbers are unique because they are made by a bijection, which also mixes the bits: gprofng looks
 * them up by some of them.
 */
static uint64_t spread(uint64_t number)
{
	return number * 0x9e3779b97f4a7c15u;
}

uint64_t ctx_gpx_frames_number(uint32_t node)
{
	return node != 0 ? spread(2 * (uint64_t)node) : 0;
}

static uint64_t info_number(uint32_t node)
{
	return spread(2 * (uint64_t)node + 1);
}

enum ctx_status ctx_gpx_frames_init(struct ctx_gpx_frames *frames, const struct ctx_gpx_stacks *stacks,
				    struct ctx_gpx_places *places, struct ctx_err *err)
{
	*frames = (struct ctx_gpx_frames){.stacks = stacks, .places = places};
	frames->seen = ctx_calloc(stacks->n_nodes, sizeof(*frames->seen));
	frames->written = ctx_calloc(stacks->n_nodes, sizeof(*frames->written));
	return frames->seen != NULL && frames->written != NULL ? CTX_OK : ctx_err_nomem(err);
}

void ctx_gpx_frames_deinit(struct ctx_gpx_frames *frames)
{
	free(frames->seen);
	free(frames->written);
	*frames = (struct ctx_gpx_frames){0};
}

/*
 * Places all objects of a stack. This comes before any address: an address in no object must not
 * lie in a placed one.
 */
static enum ctx_status place_objects(struct ctx_gpx_frames *frames, uint32_t node, struct ctx_err *err)
{
	const struct ctx_gpx_stacks *stacks = frames->stacks;
	uint32_t turn = frames->places->turn;
	enum ctx_status status = CTX_OK;

	for (; node != 0 && frames->seen[node] != turn && status == CTX_OK;
	     node = ctx_gpx_parent(stacks, node)) {
		struct ctx_gpx_frame frame = ctx_gpx_frame(stacks, ctx_gpx_place(stacks, node));

		frames->seen[node] = turn;
		if (frame.kind == CTX_GPX_FRAME_CODE)
			status = ctx_gpx_places_put(frames->places, frame.object, err);
	}
	return status;
}

/* The value of a frame. Values at the end of the address space are reserved. */
static uint64_t value_of(const struct ctx_gpx_frames *frames, const struct ctx_gpx_frame *frame)
{
	const struct ctx_gpx_places *places = frames->places;
	uint64_t address = frame->address;

	switch (frame->kind) {
	case CTX_GPX_FRAME_CODE:
		return ctx_gpx_places_address(places, frame->object, address);
	case CTX_GPX_FRAME_DEPTH:
		return TRUNCATED;
	case CTX_GPX_FRAME_UNWIND:
		return UNWIND_FAILED;
	case CTX_GPX_FRAME_ABSOLUTE:
	case CTX_GPX_FRAME_NONE:
		break;
	}
	return address == 0 || address >= UNWIND_FAILED || ctx_gpx_places_has(places, address) ? NOWHERE
											       : address;
}

/* Whether longer stacks store only a link to this one. */
static bool is_linked(const struct ctx_gpx_frames *frames, uint32_t node)
{
	const struct ctx_gpx_stacks *stacks = frames->stacks;

	return (ctx_gpx_depth(stacks, node) % STEP == 0 ||
		ctx_gpx_pair(stacks, frames->places->process, node) != NULL) &&
	       ctx_gpx_frame(stacks, ctx_gpx_place(stacks, node)).kind != CTX_GPX_FRAME_NONE;
}

struct record {
	uint32_t node;
	uint32_t link; /* node of the rest; 0 none */
	size_t n;
	uint64_t values[2 * STEP];
};

static enum ctx_status write_record(struct ctx_gpx_blocks *blocks, const struct record *record,
				    struct ctx_err *err)
{
	uint32_t node = record->node, link = record->link;
	size_t n = record->n;
	size_t info = n != 0 ? INFO_BYTES + n * 8 + (link != 0 ? 8 : 0) : 0;
	uint8_t *at = ctx_gpx_blocks_add(blocks, TYPE_FRAMES, HEAD_BYTES + info, err);

	if (at == NULL)
		return blocks->status;
	ctx_gpx_put_u32(at + 4, HEAD_BYTES);
	ctx_gpx_put_u64(at + 8, ctx_gpx_frames_number(node));
	if (n == 0)
		return CTX_OK;
	at += HEAD_BYTES;
	ctx_gpx_put_u32(at, (uint32_t)info);
	ctx_gpx_put_u32(at + 4, NATIVE | (link != 0 ? LINKED : 0));
	ctx_gpx_put_u64(at + 8, info_number(node));
	for (size_t i = 0; i < n; i++)
		ctx_gpx_put_u64(at + INFO_BYTES + i * 8, record->values[i]);
	if (link != 0)
		ctx_gpx_put_u64(at + INFO_BYTES + n * 8, info_number(link));
	return CTX_OK;
}

/* Writes a stack and the stacks that it links to. */
static enum ctx_status write_stack(struct ctx_gpx_frames *frames, struct ctx_gpx_blocks *blocks,
				   uint32_t node, struct ctx_err *err)
{
	const struct ctx_gpx_stacks *stacks = frames->stacks;
	uint32_t turn = frames->places->turn;
	enum ctx_status status = CTX_OK;

	while (node != 0 && frames->written[node] != turn && status == CTX_OK) {
		struct record record;
		uint32_t at = node;

		record.node = node;
		record.n = 0;
		for (; at != 0 && !(record.n != 0 && is_linked(frames, at)) &&
		       record.n < CTX_COUNT_OF(record.values);
		     at = ctx_gpx_parent(stacks, at)) {
			struct ctx_gpx_frame frame = ctx_gpx_frame(stacks, ctx_gpx_place(stacks, at));

			if (frame.kind != CTX_GPX_FRAME_NONE)
				record.values[record.n++] = value_of(frames, &frame);
		}
		frames->written[node] = turn;
		record.link = at;
		status = write_record(blocks, &record, err);
		node = at;
	}
	return status;
}

enum ctx_status ctx_gpx_frames_write(struct ctx_gpx_frames *frames, const char *path, struct ctx_err *err)
{
	const struct ctx_gpx_stacks *stacks = frames->stacks;
	const struct ctx_gpx_use *use = &stacks->uses[frames->places->process];
	const struct ctx_gpx_pair *pairs = use->n_pairs != 0 ? &stacks->pairs[use->first_pair] : NULL;
	struct ctx_gpx_blocks blocks = {.path = strdup(path)};
	enum ctx_status status = blocks.path != NULL ? CTX_OK : ctx_err_nomem(err);

	for (size_t i = 0; i < use->n_pairs && status == CTX_OK; i++)
		status = place_objects(frames, pairs[i].node, err);
	for (size_t i = 0; i < use->n_pairs && status == CTX_OK; i++)
		status = write_stack(frames, &blocks, pairs[i].node, err);
	if (status == CTX_OK)
		status = ctx_gpx_blocks_finish(&blocks, err);
	ctx_gpx_blocks_deinit(&blocks);
	return status;
}
