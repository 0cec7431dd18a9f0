#include "collect/stack_memory.h"

#include "base/bisect.h"
#include "base/mem.h"
#include "model/profile.h"

#include <string.h>

/*
 * The number of stacks that must agree. Measured on known stacks that were cut near the leaf: one
 * witness was wrong in a sixth of all cases, mostly by another call in the same function; two in 3
 * %, three in less than 0.1 %. In the middle of a stack, where there are many, 0.2 %.
 */
#define WITNESSES 2u

enum ctx_status ctx_stack_memory_init(struct ctx_stack_memory *memory, struct ctx_err *err)
{
	*memory = (struct ctx_stack_memory){
		.items = ctx_calloc(CTX_STACK_MEMORY_THREADS, sizeof(*memory->items))};
	if (memory->items == NULL)
		return ctx_err_nomem(err);
	for (size_t i = 0; i < CTX_STACK_MEMORY_THREADS; i++)
		memory->items[i].thread = CTX_NONE;
	return CTX_OK;
}

static void forget(struct ctx_stack_memory *memory, struct ctx_remembered *item)
{
	for (size_t i = 0; item->stacks != NULL && i < CTX_STACK_MEMORY_STACKS; i++) {
		memory->n_frames -= item->stacks[i].cap;
		free(item->stacks[i].frames);
	}
	free(item->stacks);
	*item = (struct ctx_remembered){.thread = CTX_NONE};
}

void ctx_stack_memory_deinit(struct ctx_stack_memory *memory)
{
	for (size_t i = 0; memory->items != NULL && i < CTX_STACK_MEMORY_THREADS; i++)
		forget(memory, &memory->items[i]);
	free(memory->items);
	*memory = (struct ctx_stack_memory){0};
}

static bool is_same(const struct ctx_unwind_frame *a, const struct ctx_unwind_frame *b, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (a[i].address != b[i].address || a[i].cfa != b[i].cfa)
			return false;
	}
	return true;
}

/* The place of the thread's next stack; it replaces the oldest one. */
static struct ctx_remembered_stack *next_place(struct ctx_remembered *item)
{
	if (item->stacks == NULL)
		item->stacks = ctx_calloc(CTX_STACK_MEMORY_STACKS, sizeof(*item->stacks));
	if (item->stacks == NULL)
		return NULL;
	item->newest = (item->newest + 1) % CTX_STACK_MEMORY_STACKS;
	item->n += item->n < CTX_STACK_MEMORY_STACKS;
	return &item->stacks[item->newest];
}

static bool grow(struct ctx_stack_memory *memory, struct ctx_remembered_stack *stack, size_t n)
{
	size_t had = stack->cap;
	enum ctx_status status = ctx_grow(&stack->frames, &stack->cap, n, NULL);

	memory->n_frames += stack->cap - had;
	return status == CTX_OK;
}

/* Ended threads cannot be recognised: all other threads are forgotten. */
static void forget_others(struct ctx_stack_memory *memory, const struct ctx_remembered *but)
{
	for (size_t i = 0; i < CTX_STACK_MEMORY_THREADS; i++) {
		if (&memory->items[i] != but)
			forget(memory, &memory->items[i]);
	}
}

static size_t count_ascending(const struct ctx_remembered_stack *stack)
{
	uint64_t last = 0;
	size_t i = 0;

	for (; i < stack->n && stack->frames[i].cfa > last; i++)
		last = stack->frames[i].cfa;
	return i;
}

void ctx_stack_memory_keep(struct ctx_stack_memory *memory, uint32_t thread, struct ctx_stack_part part,
			   struct ctx_stack_part more)
{
	struct ctx_remembered *item = &memory->items[thread % CTX_STACK_MEMORY_THREADS];
	struct ctx_remembered_stack *stack;
	size_t from =
		SIZE_MAX; /* index of the joined callers if they are in this stack already: they move with the array */

	if (item->thread != thread) {
		item->n = 0;
		item->thread = thread;
	}
	stack = next_place(item);
	if (stack != NULL && more.n != 0 && stack->n != 0 && more.frames >= stack->frames &&
	    more.frames < stack->frames + stack->n)
		from = (size_t)(more.frames - stack->frames);
	if (stack == NULL || part.n + more.n > CTX_STACK_MEMORY_FRAMES ||
	    !grow(memory, stack, part.n + more.n)) {
		forget(memory, item);
		return;
	}
	if (more.n != 0)
		memmove(stack->frames + part.n, from != SIZE_MAX ? stack->frames + from : more.frames,
			more.n * sizeof(*more.frames));
	if (part.n != 0)
		memcpy(stack->frames, part.frames, part.n * sizeof(*part.frames));
	stack->n = part.n + more.n;
	stack->n_ascending = count_ascending(stack);
	if (memory->n_frames > CTX_STACK_MEMORY_ALL)
		forget_others(memory, item);
}

/* The frame searched for in a remembered stack. */
struct wanted {
	struct ctx_code_view *view;
	const struct ctx_unwind_frame *frame; /* whose CFA is known */
	const struct ctx_unwind_frame
		*caller; /* its caller, whose CFA is unknown; NULL: the callers of `frame` are wanted */
};

static bool is_at(const struct wanted *wanted, const struct ctx_unwind_frame *frame)
{
	return frame->cfa == wanted->frame->cfa &&
	       (wanted->caller == NULL || frame[1].address == wanted->caller->address) &&
	       ctx_code_view_same_function(wanted->view, frame->address, wanted->frame->address);
}

/* The callers in this stack; NULL: the frame is not in it. */
static const struct ctx_unwind_frame *find(const struct wanted *wanted,
					   const struct ctx_remembered_stack *stack, size_t *ret_n)
{
	size_t skip = wanted->caller != NULL ? 2 : 1;
	size_t first = ctx_count_below(stack->frames, stack->n_ascending, cfa, wanted->frame->cfa);

	for (size_t i = first; i + skip <= stack->n;
	     i = i < stack->n_ascending ? stack->n_ascending : i + 1) {
		if (!is_at(wanted, &stack->frames[i]))
			continue;
		*ret_n = stack->n - i - skip;
		return stack->frames + i + skip;
	}
	return NULL;
}

struct ctx_stack_part ctx_stack_memory_callers(const struct ctx_stack_memory *memory, uint32_t thread,
					       struct ctx_code_view *view, struct ctx_stack_part part)
{
	const struct ctx_remembered *item = &memory->items[thread % CTX_STACK_MEMORY_THREADS];
	struct wanted wanted = {.view = view, .frame = &part.frames[part.n - 1]};
	const struct ctx_stack_part none = {0};
	struct ctx_stack_part found = none, other;
	size_t n_stacks = 0;

	/*
	 * Where its CFA is unknown, that of its callee is known, which then must have been called
	 * from the same address.
	 */
	if (wanted.frame->cfa == 0 && part.n >= 2) {
		wanted.caller = wanted.frame;
		wanted.frame--;
	}
	if (item->thread != thread || wanted.frame->cfa == 0)
		return none;
	for (uint32_t i = 0; i < item->n; i++) {
		uint32_t place = (item->newest + CTX_STACK_MEMORY_STACKS - i) % CTX_STACK_MEMORY_STACKS;

		other.frames = find(&wanted, &item->stacks[place], &other.n);
		if (other.frames == NULL)
			continue;
		if (found.frames != NULL &&
		    (other.n != found.n || !is_same(found.frames, other.frames, found.n)))
			return none;
		found = other;
		n_stacks++;
	}
	return n_stacks >= WITNESSES ? found : none;
}
