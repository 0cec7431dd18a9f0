/*
 * Which allocations of a block of heap operations live, and how far apart two of them are, counted in those
 * that live between them (exp_heap_code.h). The last one to be freed is a mark of its own for each of some
 * threads: what a thread frees next is mostly near it.
 *
 * All zero is an empty set. Numbers are below CTX_EXP_HEAP_LIVE_MAX. Each call costs a few words near the
 * number, at most 128 and 32 more.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_HEAP_LIVE_H
#define CTX_FORMATS_EXPERIMENT_EXP_HEAP_LIVE_H

#include <stdbool.h>
#include <stdint.h>

#define CTX_EXP_HEAP_LIVE_MAX 262144u
#define CTX_EXP_HEAP_LIVE_WORDS (CTX_EXP_HEAP_LIVE_MAX / 64)
#define CTX_EXP_HEAP_LIVE_GROUP 32u /* words */

struct ctx_exp_heap_live {
	uint64_t words[CTX_EXP_HEAP_LIVE_WORDS];
	uint16_t sums[CTX_EXP_HEAP_LIVE_WORDS / CTX_EXP_HEAP_LIVE_GROUP]; /* members of a group of words */
	uint32_t n;							  /* numbers so far */
	uint32_t n_live;
};

/* The next number, which lives. There must be one left. */
static inline uint32_t ctx_exp_heap_live_add(struct ctx_exp_heap_live *live)
{
	uint32_t i = live->n++;

	live->words[i / 64] |= UINT64_C(1) << i % 64;
	live->sums[i / 64 / CTX_EXP_HEAP_LIVE_GROUP]++;
	live->n_live++;
	return i;
}

static inline bool ctx_exp_heap_live_has(const struct ctx_exp_heap_live *live, uint32_t i)
{
	return (live->words[i / 64] >> i % 64 & 1) != 0;
}

/* `i` must live. */
static inline void ctx_exp_heap_live_remove(struct ctx_exp_heap_live *live, uint32_t i)
{
	live->words[i / 64] &= ~(UINT64_C(1) << i % 64);
	live->sums[i / 64 / CTX_EXP_HEAP_LIVE_GROUP]--;
	live->n_live--;
}

/*
 * A living number as a distance from a mark, and back. 0: the youngest one that lives. 1 + 2 d: d live between
 * the mark (included) and it, which is not below the mark. 2 + 2 d: it is below the mark, d live between them.
 */
uint64_t ctx_exp_heap_live_distance(const struct ctx_exp_heap_live *live, uint32_t mark, uint32_t i);

/* False: there is none. */
bool ctx_exp_heap_live_at(const struct ctx_exp_heap_live *live, uint32_t mark, uint64_t distance,
			  uint32_t *ret);

#endif
