/*
 * Stack memory: remembers the last complete stacks of each thread, so that a stack whose copy ended
 * too early can be completed.
 *
 * A frame whose caller could not be read is searched in the thread's last complete stacks: the same
 * function with the same CFA, thus at the same place in memory. Its callers are taken from there if
 * at least two of those stacks have it and all that have it agree; joined callers are marked in the
 * recording. This completes deep recursion and handlers on an alternate stack.
 *
 * Bounded: beyond CTX_STACK_MEMORY_THREADS, threads share places and evict each other; above
 * CTX_STACK_MEMORY_ALL, the stacks of other threads are forgotten.
 */
#ifndef CTX_COLLECT_STACK_MEMORY_H
#define CTX_COLLECT_STACK_MEMORY_H

#include "collect/codemaps.h"

#define CTX_STACK_MEMORY_THREADS 1024u
#define CTX_STACK_MEMORY_FRAMES 8192u	       /* of one stack; larger ones are not remembered */
#define CTX_STACK_MEMORY_STACKS 32u	       /* of one thread */
#define CTX_STACK_MEMORY_ALL ((size_t)4 << 20) /* frames of all older stacks: 64 MiB */

struct ctx_remembered_stack {
	struct ctx_unwind_frame *frames; /* leaf first; owned */
	size_t n, cap;
	size_t n_ascending; /* so many frames, from the leaf on, have CFAs that are not 0 and ascend */
};

struct ctx_remembered {
	uint32_t thread;		     /* thread number; CTX_NONE: empty */
	uint32_t n;			     /* stacks */
	uint32_t newest;		     /* index of the newest one; a circular buffer */
	struct ctx_remembered_stack *stacks; /* CTX_STACK_MEMORY_STACKS; owned; NULL: none yet */
};

struct ctx_stack_memory {
	struct ctx_remembered *items; /* by thread number, modulo; owned */
	size_t n_frames;	      /* capacity of all stacks */
};

CTX_MUST_CHECK enum ctx_status ctx_stack_memory_init(struct ctx_stack_memory *memory, struct ctx_err *err);
void ctx_stack_memory_deinit(struct ctx_stack_memory *memory);

/* Consecutive frames of a stack, leaf first; borrowed. */
struct ctx_stack_part {
	const struct ctx_unwind_frame *frames;
	size_t n;
};

/*
 * Remembers a stack that reaches its root: `part` and its callers in `more`, which may be what
 * `callers` has just returned for this thread. On memory shortage the thread is forgotten.
 * O(frames).
 */
void ctx_stack_memory_keep(struct ctx_stack_memory *memory, uint32_t thread, struct ctx_stack_part part,
			   struct ctx_stack_part more);

/*
 * The callers of the last frame of `part`, which has at least one. `frames` is NULL where none of
 * the thread's stacks has this frame, or they do not agree. Borrowed until the next call of keep.
 * O(remembered stacks of the thread * log(frames)), and the frames that are not in order, as below a handler on
 * an alternate stack.
 */
struct ctx_stack_part ctx_stack_memory_callers(const struct ctx_stack_memory *memory, uint32_t thread,
					       struct ctx_code_view *view, struct ctx_stack_part part);

#endif
