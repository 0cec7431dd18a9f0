/*
 * The locks that a thread holds, in the order in which it took them, and the pairs of locks of which it has
 * taken the second while it held the first.
 *
 * The thread alone writes here; others may look where it took a lock that they wait for.
 */
#ifndef CTX_RUNTIME_RT_HELD_H
#define CTX_RUNTIME_RT_HELD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CTX_RT_HELD_MAX 32u    /* at a time; further ones are not followed */
#define CTX_RT_PAIRS 4096u     /* a power of two */
#define CTX_RT_PAIRS_MAX 3072u /* of a thread; further ones are not recorded */

struct ctx_rt_held {
	uint64_t object;    /* 0: none */
	uint64_t pc;	    /* behind the call that took it */
	uint64_t since_ns;  /* 0: not known */
	uint32_t operation; /* enum ctx_sync_operation of a wait for it */
};

/* All zero is valid. */
struct ctx_rt_locks {
	uint32_t n, n_pairs;
	struct ctx_rt_held held[CTX_RT_HELD_MAX];
	uint64_t pairs[CTX_RT_PAIRS]; /* hashes of pairs; 0: free */
};

static inline void ctx_rt_locks_clear(struct ctx_rt_locks *locks)
{
	if (locks->n_pairs != 0)
		memset(locks->pairs, 0, sizeof(locks->pairs));
	locks->n = locks->n_pairs = 0;
}

/* A signal handler in between leaves its own entry behind this one, and takes it away again. */
static inline void ctx_rt_locks_push(struct ctx_rt_locks *locks, const struct ctx_rt_held *held)
{
	uint32_t at = locks->n;
	struct ctx_rt_held *place = &locks->held[at];

	if (at == CTX_RT_HELD_MAX)
		return;
	locks->n = at + 1;
	atomic_signal_fence(memory_order_seq_cst);
	/* Field by field: a copy of the whole would read what has just been written in smaller pieces. */
	place->object = held->object;
	place->pc = held->pc;
	place->since_ns = held->since_ns;
	place->operation = held->operation;
}

/* The place of the last one taken of these; CTX_RT_HELD_MAX: none. */
static inline uint32_t ctx_rt_locks_find(const struct ctx_rt_locks *locks, uint64_t object)
{
	for (uint32_t i = locks->n; i-- > 0;) {
		if (locks->held[i].object == object)
			return i;
	}
	return CTX_RT_HELD_MAX;
}

static inline void ctx_rt_locks_remove(struct ctx_rt_locks *locks, uint32_t at)
{
	uint32_t n = locks->n - 1;

	for (; at < n; at++)
		locks->held[at] = locks->held[at + 1];
	locks->held[n].object = 0;
	atomic_signal_fence(memory_order_seq_cst);
	locks->n = n;
}

/* Where a pair is in `pairs`, or has to be put. There is always a free place. */
static inline uint64_t *ctx_rt_locks_pair(struct ctx_rt_locks *locks, uint64_t held, uint64_t taken,
					  uint64_t *ret_hash)
{
	uint64_t hash = (held ^ (taken << 23 | taken >> 41)) * UINT64_C(0x9e3779b97f4a7c15);
	uint64_t at;

	hash ^= hash >> 29;
	hash = (hash + taken) * UINT64_C(0xbf58476d1ce4e5b9);
	hash ^= hash >> 32;
	hash += hash == 0;
	at = hash & (CTX_RT_PAIRS - 1);
	while (locks->pairs[at] != 0 && locks->pairs[at] != hash)
		at = (at + 1) & (CTX_RT_PAIRS - 1);
	*ret_hash = hash;
	return &locks->pairs[at];
}

#endif
