#include "runtime/rt_io_pending.h"

#include <stdatomic.h>

#define PENDING 4096u /* a power of two */
#define TRIES 64u

struct slot {
	_Atomic uint64_t block; /* 0: free; 1: it is being written */
	struct ctx_rt_pending operation;
};

static struct slot slots[PENDING];

static uint32_t place_of(uint64_t block)
{
	return (uint32_t)(block >> 4 ^ block >> 16) & (PENDING - 1);
}

void ctx_rt_pending_add(const void *block, const struct ctx_rt_pending *operation)
{
	uint64_t address = (uintptr_t)block;
	struct ctx_rt_pending older;

	(void)ctx_rt_pending_take(block, &older);
	for (uint32_t i = 0, at = place_of(address); i < TRIES; i++, at = (at + 1) & (PENDING - 1)) {
		uint64_t free_one = 0;

		if (!atomic_compare_exchange_strong(&slots[at].block, &free_one, 1))
			continue;
		slots[at].operation = *operation;
		atomic_store_explicit(&slots[at].block, address, memory_order_release);
		return;
	}
}

bool ctx_rt_pending_take(const void *block, struct ctx_rt_pending *ret)
{
	uint64_t address = (uintptr_t)block;

	for (uint32_t i = 0, at = place_of(address); i < TRIES; i++, at = (at + 1) & (PENDING - 1)) {
		uint64_t expected = address;

		if (atomic_load_explicit(&slots[at].block, memory_order_acquire) != address)
			continue;
		*ret = slots[at].operation;
		return atomic_compare_exchange_strong(&slots[at].block, &expected, 0);
	}
	return false;
}
