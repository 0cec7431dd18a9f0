/*
 * data.frameinfo of a process: its stacks, as addresses.
 *
 * A stack is a record with its frames up to the next node that is a stack too, or whose depth is a
 * multiple of 32; the rest is a link to that. So the size is proportional to the number of distinct
 * frames, and chains of links are short.
 */
#ifndef CTX_FORMATS_EXPORT_GPROFNG_FRAMES_H
#define CTX_FORMATS_EXPORT_GPROFNG_FRAMES_H

#include "formats/export/gprofng_places.h"

struct ctx_gpx_frames {
	const struct ctx_gpx_stacks *stacks;
	struct ctx_gpx_places *places;
	uint32_t *seen, *written; /* owned; by node: turn of the process for which it was written */
};

CTX_MUST_CHECK enum ctx_status ctx_gpx_frames_init(struct ctx_gpx_frames *frames,
						   const struct ctx_gpx_stacks *stacks,
						   struct ctx_gpx_places *places, struct ctx_err *err);
void ctx_gpx_frames_deinit(struct ctx_gpx_frames *frames);

/*
 * Places the objects of the process (places->process) and writes its stacks to the file. CTX_E_IO,
 * CTX_E_NOMEM, CTX_E_LIMIT.
 */
CTX_MUST_CHECK enum ctx_status ctx_gpx_frames_write(struct ctx_gpx_frames *frames, const char *path,
						    struct ctx_err *err);

/* The number that events use for the stack of a node; 0 for none. */
uint64_t ctx_gpx_frames_number(uint32_t node);

#endif
