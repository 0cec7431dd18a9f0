/*
 * Locks taken in inverse orders: what may end in a deadlock.
 *
 * An order says that a thread took a lock, or asked for it, while it held another one. A cycle of orders, each of
 * another thread, is a deadlock that can happen. Two threads that only read do not wait for each other.
 */
#ifndef CTX_MODEL_LOCK_CYCLES_H
#define CTX_MODEL_LOCK_CYCLES_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_LOCK_CYCLE_MAX 8u /* locks; longer cycles are not found */

struct ctx_lock_order {
	uint32_t held, taken; /* locks: any numbers below n_locks of the call */
	uint32_t thread;
	bool held_read, taken_read; /* shared with other readers */
};

struct ctx_lock_cycle {
	uint32_t n;			     /* of its orders, at least 2 */
	uint32_t orders[CTX_LOCK_CYCLE_MAX]; /* indices; each takes the lock that the next one holds */
};

struct ctx_lock_cycles {
	struct ctx_lock_cycle *items; /* owned */
	size_t n, cap;
};

void ctx_lock_cycles_deinit(struct ctx_lock_cycles *cycles);

/*
 * For every pair of locks a shortest cycle through it, each cycle once: first those of two locks. The orders
 * of a cycle are the first that fit. At most CTX_LOCK_CYCLES_MAX. CTX_E_NOMEM. O(pairs * pairs) at worst, usually
 * O(pairs).
 */
#define CTX_LOCK_CYCLES_MAX 10000u
CTX_MUST_CHECK enum ctx_status ctx_lock_cycles_find(const struct ctx_lock_order *orders, size_t n,
						    uint32_t n_locks, struct ctx_lock_cycles *ret,
						    struct ctx_err *err);

#endif
