#include "collect/stack_bottoms.h"

#include "base/mem.h"
#include "unwind/frame_chain.h"

#include <string.h>

#define ALL_UP_TO 256u /* stacks; then one in so many: */
#define ONE_IN 16u

enum ctx_status ctx_stack_bottoms_init(struct ctx_stack_bottoms *bottoms, struct ctx_err *err)
{
	*bottoms =
		(struct ctx_stack_bottoms){.items = ctx_calloc(CTX_STACK_BOTTOMS, sizeof(*bottoms->items))};
	return bottoms->items != NULL ? CTX_OK : ctx_err_nomem(err);
}

void ctx_stack_bottoms_deinit(struct ctx_stack_bottoms *bottoms)
{
	free(bottoms->items);
	*bottoms = (struct ctx_stack_bottoms){0};
}

static struct ctx_stack_bottom *place_of(const struct ctx_stack_bottoms *bottoms, uint32_t process,
					 uint64_t address)
{
	uint64_t hash = (address ^ (uint64_t)process << 40) * UINT64_C(0x9e3779b97f4a7c15);

	return &bottoms->items[(hash >> 32) % CTX_STACK_BOTTOMS];
}

static bool is_of(const struct ctx_stack_bottom *bottom, uint32_t process, uint64_t address)
{
	return bottom->n != 0 && bottom->process == process && bottom->frames[0].address == address;
}

static bool is_same(const struct ctx_stack_bottom *bottom, struct ctx_stack_part stack)
{
	for (uint32_t i = 0; i < bottom->n; i++) {
		if (bottom->frames[i].address != stack.frames[stack.n - bottom->n + i].address)
			return false;
	}
	return true;
}

/* The number of frames without frame pointers at the end; 0: more than a bottom has, or all of the stack. */
static uint32_t count_bottom(struct ctx_code_view *view, struct ctx_stack_part stack)
{
	struct ctx_unwind_space space = ctx_code_view_space(view);

	for (uint32_t n = 0; n <= CTX_STACK_BOTTOM_FRAMES && n < stack.n; n++) {
		if (ctx_frame_chain_has(&space, stack.frames[stack.n - 1 - n].address))
			return n;
	}
	return 0;
}

static void learn(struct ctx_stack_bottoms *bottoms, uint32_t process, struct ctx_stack_part stack,
		  uint32_t n)
{
	const struct ctx_unwind_frame *frames = stack.frames + stack.n - n;
	struct ctx_stack_bottom *bottom = place_of(bottoms, process, frames[0].address);

	if (!is_of(bottom, process, frames[0].address)) {
		*bottom = (struct ctx_stack_bottom){.process = process, .n = n};
		memcpy(bottom->frames, frames, n * sizeof(*frames));
	}
	if (bottom->n != n || !is_same(bottom, stack))
		bottom->differs = true;
	else if (bottom->witnesses < CTX_STACK_BOTTOM_WITNESSES)
		bottom->witnesses++;
}

void ctx_stack_bottoms_offer(struct ctx_stack_bottoms *bottoms, struct ctx_code_view *view,
			     struct ctx_stack_part stack)
{
	uint32_t n;

	if (bottoms->n_offered++ >= ALL_UP_TO && bottoms->n_offered % ONE_IN != 0)
		return;
	for (size_t i = 1; i < stack.n; i++) {
		uint64_t address = stack.frames[i].address;
		struct ctx_stack_bottom *bottom = place_of(bottoms, view->process, address);

		if (is_of(bottom, view->process, address) &&
		    (i + bottom->n != stack.n || !is_same(bottom, stack)))
			bottom->differs = true;
	}
	n = count_bottom(view, stack);
	if (n != 0)
		learn(bottoms, view->process, stack, n);
}

struct ctx_stack_part ctx_stack_bottoms_callers(const struct ctx_stack_bottoms *bottoms, uint32_t process,
						uint64_t address)
{
	const struct ctx_stack_bottom *bottom = place_of(bottoms, process, address);

	if (!is_of(bottom, process, address) || bottom->differs || bottom->n < 2 ||
	    bottom->witnesses < CTX_STACK_BOTTOM_WITNESSES)
		return (struct ctx_stack_part){0};
	return (struct ctx_stack_part){bottom->frames + 1, bottom->n - 1};
}
