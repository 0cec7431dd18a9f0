/*
 * State of encoding and decoding of blocks of heap operations, which go through the same states: what lives
 * (struct ctx_exp_heap_live) and which stacks followed on which (struct stacks). Only for exp_heap_encode.c, where the
 * streams are explained, and exp_heap_decode.c.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_HEAP_CODER_H
#define CTX_FORMATS_EXPERIMENT_EXP_HEAP_CODER_H

#include "formats/experiment/exp_heap_code.h"
#include "formats/experiment/exp_heap_threads.h"

#include <string.h>

enum stream {
	RUNS,
	FREES,
	KINDS,
	OLDER,
	ADDRESSES,
	MAPPINGS,
	STACKS,
	OTHER_STACKS,
	NEW_STACKS,
	SIZES,
	THREADS,
	SAME_TIMES,
	TIMES,
	THREAD_RUNS,
	THREAD_CHANGES,
	OWN_LENGTHS,
	OWN_STREAMS,
};
_Static_assert(OWN_STREAMS + CTX_EXP_HEAP_OWN == CTX_EXP_HEAP_STREAMS, "all of them");

/* Streams that each slot of threads has of its own, and where they are if there is one thread. */
enum own { RUN, FREE, STACK, OTHER_STACK, SIZE };
static const enum stream common[CTX_EXP_HEAP_OWN] = {RUNS, FREES, STACKS, OTHER_STACKS, SIZES};

#define COMMON_STREAMS (TIMES + 1)	/* without more than one thread */
#define THREADS_KEPT CTX_EXP_HEAP_SLOTS /* marks and stacks are by number of the thread, modulo this */
#define FOLLOWERS 8u
#define NO_SIZE UINT64_MAX
#define NO_NUMBER UINT32_MAX
#define UNCLEAR (NO_NUMBER - 1)
#define SLOTS_MIN 1024u
#define SLOTS_MAX (2 * CTX_EXP_HEAP_LIVE_MAX)

struct stacks {
	uint32_t n; /* numbers 1 to n */
	uint32_t last_new;
	uint32_t last_of_thread[THREADS_KEPT];
	uint32_t followers[CTX_EXP_HEAP_MAX + 1][FOLLOWERS]; /* the last ones first */
	uint64_t sizes[CTX_EXP_HEAP_MAX + 1];
	uint32_t ids[CTX_EXP_HEAP_MAX + 1];
};

struct stack_slot { /* encoding: id -> number; 0: free */
	uint32_t id;
	uint32_t number;
};

struct address_slot {	  /* encoding */
	uint64_t address; /* 0: free */
	uint32_t number;  /* of the living allocation; NO_NUMBER: none; UNCLEAR: there were two of them */
	uint32_t thread;  /* that allocated it */
};

/* An operation, as far as RUNS, FREES and KINDS say. */
struct step {
	uint32_t operation;
	uint32_t freed; /* number in the block; NO_NUMBER: none, or an older one */
	bool has_nothing;
};

struct ctx_exp_heap_coder {
	struct ctx_exp_heap_live live;
	uint32_t marks[THREADS_KEPT]; /* number that the thread freed last */
	struct stacks stacks;
	struct stack_slot stack_slots[SLOTS_MAX]; /* at most half of those up to the mask are in use */
	uint32_t stack_mask;
	struct address_slot slots[SLOTS_MAX + SLOTS_MAX / 2]; /* likewise; the rest is for growing */
	uint32_t slot_mask, n_slots;
	uint64_t addresses[CTX_EXP_HEAP_MAX]; /* encoding: by number of the allocation */
	uint64_t older[CTX_EXP_HEAP_MAX];
	uint32_t n_older;
	uint32_t threads[CTX_EXP_HEAP_MAX]; /* decoding: of the operations */
	struct step steps[CTX_EXP_HEAP_MAX];
	struct ctx_exp_heap_lasting lasting[CTX_EXP_HEAP_MAX];
	struct ctx_buf streams[CTX_EXP_HEAP_STREAMS];
	struct ctx_exp_heap_own own[CTX_EXP_HEAP_SLOTS]; /* encoding */
};

/* Makes the coder if there is none, and its state that of the begin of a block. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_heap_begin(struct ctx_exp_heap_coder **coder, struct ctx_err *err);

static inline bool is_mapping(unsigned operation)
{
	return operation > CTX_HEAP_REALLOCATE;
}

static inline uint32_t add_stack(struct stacks *stacks, uint32_t id)
{
	uint32_t number = ++stacks->n;

	stacks->ids[number] = id;
	stacks->sizes[number] = NO_SIZE;
	memset(stacks->followers[number], 0, sizeof(stacks->followers[number]));
	return number;
}

/* Makes the stack the first follower; `at`: where it is, FOLLOWERS: nowhere. */
static inline void follow(uint32_t *followers, uint32_t number, uint32_t at)
{
	for (uint32_t i = at < FOLLOWERS ? at : FOLLOWERS - 1; i > 0; i--)
		followers[i] = followers[i - 1];
	followers[0] = number;
}

#endif
