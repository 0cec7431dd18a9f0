/*
 * The locks that a thread holds, in the order in which it took them, and the pairs of locks of which it has
 * taken the second while it held the first.
 *
 * The thread alone writes here; others may look where it took a lock that they wait for. A lock that another thread
 * releases is left in `released` by that one, and the thread removes it when it looks at its locks again: it may not
 * read the lock itself, whose memory may be gone by then.
 */
#ifndef CTX_RUNTIME_RT_HELD_H
#define CTX_RUNTIME_RT_HELD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#define CTX_RT_HELD_MAX 32u    /* at a time; further ones are not followed */
#define CTX_RT_RELEASED 4u     /* of more by others it forgets all that it holds */
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
	_Atomic uint32_t has_released;		    /* others have released some */
	_Atomic uint32_t has_too_many;		    /* that `released` has no room for */
	_Atomic uint64_t released[CTX_RT_RELEASED]; /* 0: free */
	struct ctx_rt_held held[CTX_RT_HELD_MAX];
	uint64_t pairs[CTX_RT_PAIRS]; /* hashes of pairs; 0: free */
};

static inline void ctx_rt_locks_clear(struct ctx_rt_locks *locks)
{
	if (locks->n_pairs != 0)
		memset(locks->pairs, 0, sizeof(locks->pairs));
	locks->n = locks->n_pairs = 0;
	for (uint32_t i = 0; i < CTX_RT_RELEASED; i++)
		atomic_store_explicit(&locks->released[i], 0, memory_order_relaxed);
	atomic_store_explicit(&locks->has_too_many, 0, memory_order_relaxed);
	atomic_store_explicit(&locks->has_released, 0, memory_order_relaxed);
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

	if (locks->n == 0) /* a signal handler has removed what another thread released */
		return;
	for (; at < n; at++)
		locks->held[at] = locks->held[at + 1];
	locks->held[n].object = 0;
	atomic_signal_fence(memory_order_seq_cst);
	locks->n = n;
}

/* By another thread than theirs: it has released the lock. */
static inline void ctx_rt_locks_note_released(struct ctx_rt_locks *locks, uint64_t object)
{
	uint64_t none = 0;
	uint32_t i = 0;

	while (i < CTX_RT_RELEASED && !atomic_compare_exchange_strong(&locks->released[i], &none, object)) {
		none = 0;
		i++;
	}
	if (i == CTX_RT_RELEASED)
		atomic_store(&locks->has_too_many, 1);
	atomic_store(&locks->has_released, 1); /* the last one: who sees it finds what it is about */
}

/* Removes what others have released: of a lock that was taken again since then the older one. */
static inline void ctx_rt_locks_drop_released(struct ctx_rt_locks *locks)
{
	if (__builtin_expect(atomic_load_explicit(&locks->has_released, memory_order_acquire) == 0, 1))
		return;
	atomic_store(&locks->has_released, 0);
	for (uint32_t i = 0; i < CTX_RT_RELEASED; i++) {
		uint64_t object = atomic_exchange(&locks->released[i], 0);
		uint32_t at = 0;

		while (at < locks->n && locks->held[at].object != object)
			at++;
		if (object != 0 && at < locks->n)
			ctx_rt_locks_remove(locks, at);
	}
	if (atomic_exchange(&locks->has_too_many, 0) != 0)
		locks->n = 0;
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
