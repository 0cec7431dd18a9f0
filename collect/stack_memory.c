#include "collect/stack_memory.h"

#include "base/mem.h"
#include "model/profile.h"

#include <string.h>

enum ctx_status ctx_stack_memory_init(struct ctx_stack_memory *memory, struct ctx_err *err)
{
	memory->items = ctx_calloc(CTX_STACK_MEMORY_THREADS, sizeof(*memory->items));
	if (memory->items == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < CTX_STACK_MEMORY_THREADS; i++)
		memory->items[i].thread = CTX_NONE;
	return CTX_OK;
}

void ctx_stack_memory_deinit(struct ctx_stack_memory *memory)
{
	for (size_t i = 0; memory->items != NULL && i < CTX_STACK_MEMORY_THREADS; i++)
		free(memory->items[i].frames);
	free(memory->items);
	*memory = (struct ctx_stack_memory){0};
}

void ctx_stack_memory_keep(struct ctx_stack_memory *memory, uint32_t thread,
			   const struct ctx_unwind_frame *frames, size_t n,
			   const struct ctx_unwind_frame *more, size_t n_more)
{
	struct ctx_remembered *item = &memory->items[thread % CTX_STACK_MEMORY_THREADS];
	/* The old frames move with their array. */
	size_t from = n_more != 0 && item->n != 0 && more >= item->frames && more < item->frames + item->n
			      ? (size_t)(more - item->frames)
			      : SIZE_MAX;

	if (n + n_more > CTX_STACK_MEMORY_FRAMES ||
	    ctx_grow(&item->frames, &item->cap, n + n_more, NULL) != CTX_OK) {
		item->thread = CTX_NONE;
		item->n = 0;
		return;
	}
	if (n_more != 0)
		memmove(item->frames + n, from != SIZE_MAX ? item->frames + from : more,
			n_more * sizeof(*more));
	if (n != 0)
		memcpy(item->frames, frames, n * sizeof(*frames));
	item->n = n + n_more;
	item->thread = thread;
}

const struct ctx_unwind_frame *ctx_stack_memory_callers(const struct ctx_stack_memory *memory,
							uint32_t thread, struct ctx_code_view *view,
							const struct ctx_unwind_frame *frames, size_t n,
							size_t *ret_n)
{
	const struct ctx_remembered *item = &memory->items[thread % CTX_STACK_MEMORY_THREADS];
	const struct ctx_unwind_frame *last = &frames[n - 1];
	size_t skip = 1;

	if (item->thread != thread)
		return NULL;
	/* Where its place is not known, its callee's is, and then that one must have been called from the same address. */
	if (last->cfa == 0 && n >= 2 && frames[n - 2].cfa != 0) {
		last--;
		skip = 2;
	}
	for (size_t i = 0; last->cfa != 0 && i + skip <= item->n; i++) {
		if (item->frames[i].cfa != last->cfa ||
		    !ctx_code_view_same_function(view, item->frames[i].address, last->address))
			continue;
		if (skip == 2 && item->frames[i + 1].address != frames[n - 1].address)
			continue;
		*ret_n = item->n - i - skip;
		return item->frames + i + skip;
	}
	return NULL;
}
