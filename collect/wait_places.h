/*
 * Wait places: recognises where a thread waits, or wakes another, without a copy of its stack.
 *
 *	whole sample: registers, copied stack, stack --learn--> place
 *	brief sample: registers, first bytes of the stack --find--> stack of that place
 *
 * A place is a thread, what it does (leaves its CPU to wait, wakes), its pc and stack pointer in user
 * mode, and the return addresses in the first CTX_WAIT_PLACE_BYTES of its stack. Two whole samples
 * that agree make its stack known; after one, only what the return addresses confirm is taken. Where
 * whole samples of a place differ, it keeps what they have in common, for good: then the callers (or
 * the kernel's innermost functions) are unknown, never guessed. A place that no thread of this number
 * had is looked up by process and pc, which gives the kernel's part and the leaf.
 *
 * Bounded: CTX_WAIT_PLACES places, the one unused for the longest time is forgotten. O(frames) a call.
 */
#ifndef CTX_COLLECT_WAIT_PLACES_H
#define CTX_COLLECT_WAIT_PLACES_H

#include "base/err.h"
#include "formats/experiment/exp_writer.h"
#include "model/user_regs.h"
#include "unwind/unwind.h"

#include <stdbool.h>

#define CTX_WAIT_PLACES 8192u
#define CTX_WAIT_PLACE_BYTES 256u  /* of the stack in a brief sample; a multiple of 8 */
#define CTX_WAIT_PLACE_WORDS 6u	   /* return addresses of a place */
#define CTX_WAIT_PLACE_FRAMES 512u /* deeper stacks are cut */

struct ctx_wait_place;

struct ctx_wait_place_counts { /* while places are learned */
	uint64_t copied;       /* whole samples */
	uint64_t known;	       /* brief ones with their whole stack, */
	uint64_t partly;       /* with a part of it, */
	uint64_t unknown;      /* with their pc alone */
	uint64_t strange;      /* of the last two, those that whole samples can make known */
};

/* All zero: learns nothing and knows nothing. */
struct ctx_wait_places {
	struct ctx_wait_place *items; /* owned; NULL: not begun */
	uint32_t *tags;		      /* by item, of its key: most items are told apart by them; owned */
	uint64_t clock;		      /* of uses */
	struct ctx_wait_place_counts counts;
	uint64_t frames[CTX_WAIT_PLACE_FRAMES + 2]; /* of the last find */
};

/* Where a thread left user mode. */
struct ctx_wait_point {
	uint64_t pc, sp;      /* 0: unknown */
	const uint8_t *stack; /* from sp on; borrowed; NULL: none */
	size_t stack_bytes;
};

struct ctx_wait_point ctx_wait_point_of(const struct ctx_user_state *state);

/* Who is where. */
struct ctx_wait_at {
	uint32_t process, thread;
	unsigned what; /* enum ctx_state_change */
	struct ctx_wait_point point;
};

struct ctx_wait_stack {
	const uint64_t
		*frames; /* leaf first, with marks (model/event_source.h); borrowed until the next call */
	size_t n;
	struct ctx_exp_known_stack *known; /* of these frames; borrowed like them; NULL: none */
};

/* Begins to learn; nothing where it has begun. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_wait_places_begin(struct ctx_wait_places *places, struct ctx_err *err);
static inline bool ctx_wait_places_has_begun(const struct ctx_wait_places *places)
{
	return places != NULL && places->items != NULL;
}
void ctx_wait_places_deinit(struct ctx_wait_places *places);

/*
 * Learns the stack of a whole sample. `user`: its user part as it was unwound, whose CFAs tell where
 * the return addresses are; n 0: unknown. On memory shortage nothing is learned.
 */
void ctx_wait_places_learn(struct ctx_wait_places *places, const struct ctx_wait_at *at,
			   struct ctx_wait_stack stack, const struct ctx_unwind_frame *user, size_t n_user);

/*
 * The stack of a brief sample: at least its pc, if it has one. CTX_FRAME_JOINED is in front of what
 * no return address confirms, a truncation of CTX_TRUNCATED_BUDGET where callers are unknown.
 */
struct ctx_wait_stack ctx_wait_places_find(struct ctx_wait_places *places, const struct ctx_wait_at *at);

#endif
