/*
 * Reads arbitrary bytes as a frame table: each stack is returned in full or marked incomplete, and
 * cyclic links end. Then the same bytes as a table of Java classes.
 */
#include "formats/gprofng/gp_frames.h"
#include "formats/gprofng/gp_java.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define STACK_MAX 512u

static void check(const struct ctx_gp_frames *frames, uint64_t uid)
{
	uint64_t out[STACK_MAX], work[2 * STACK_MAX];
	struct ctx_gp_java_frame java_frames[STACK_MAX];
	struct ctx_gp_java_stack java = {.frames = java_frames, .work = work, .max = STACK_MAX};
	size_t n = STACK_MAX + 1;
	enum ctx_gp_stack_state state = ctx_gp_frames_get(frames, uid, out, STACK_MAX, &n);

	if (n > STACK_MAX || (state == CTX_GP_STACK_MISSING && n != 0))
		abort();
	java.n = STACK_MAX + 1;
	state = ctx_gp_frames_get_java(frames, uid, &java);
	if (java.n > STACK_MAX || (state == CTX_GP_STACK_MISSING && java.n != 0))
		abort();
}

static void check_java(struct ctx_gp_blocks *blocks)
{
	struct ctx_gp_java java = {0};
	struct ctx_strtab names = {0};

	if (ctx_gp_java_read(&java, blocks, &names, NULL) != CTX_OK)
		abort();
	for (size_t i = 0; i < java.by_number.cap; i++) {
		uint64_t number = java.by_number.slots[i].key;

		if (java.by_number.slots[i].value != CTX_MAP64_NONE &&
		    (ctx_gp_java_find(&java, number, 0) >= names.n ||
		     ctx_gp_java_find(&java, number, INT64_MAX) >= names.n))
			abort();
	}
	ctx_gp_java_deinit(&java);
	ctx_strtab_deinit(&names);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct ctx_gp_frames frames = {0};
	struct ctx_gp_blocks blocks;

	if (size < 1)
		return 0;
	ctx_gp_blocks_set(&blocks, data + 1, size - 1, 0, data[0] & 1);
	if (ctx_gp_frames_read(&frames, &blocks, data[0] & 2, NULL) != CTX_OK)
		abort();
	for (size_t i = 0; i < frames.stack_of_uid.cap; i++) {
		if (frames.stack_of_uid.slots[i].value != CTX_MAP64_NONE)
			check(&frames, frames.stack_of_uid.slots[i].key);
	}
	for (size_t i = 0; i < frames.n_nodes; i++) {
		check(&frames, frames.nodes[i].uid);
		check(&frames, frames.nodes[i].link);
	}
	ctx_gp_frames_deinit(&frames);
	ctx_gp_blocks_set(&blocks, data + 1, size - 1, 0, data[0] & 1);
	check_java(&blocks);
	return 0;
}
