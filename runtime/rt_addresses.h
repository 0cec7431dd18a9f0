/*
 * A set of addresses, for all threads of the process: which blocks were sampled, which mappings are of
 * files.
 *
 * A filter of counters answers for most addresses that are not there: one load. A cache line of it is for a region of
 * 64 KiB, so what is asked for blocks near each other, as a program mostly frees them, is in the cache.
 * Behind it are tables of buckets of 8 slots, each table twice as large as the one before; where a bucket
 * is full, the next table is used. No locks, and nothing is moved, so it may be used in a signal handler that
 * interrupted another use; a forked child goes on with its copy.
 */
#ifndef CTX_RUNTIME_RT_ADDRESSES_H
#define CTX_RUNTIME_RT_ADDRESSES_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_RT_FILTER_BITS 14u
#define CTX_RT_FILTER_REGION_BITS 16u
#define CTX_RT_FILTER_LINE_BITS 6u
#define CTX_RT_TABLES 16u /* together some 10^8 addresses */

struct ctx_rt_addresses { /* all zero is an empty set; its tables are never released */
	_Alignas(1u << CTX_RT_FILTER_LINE_BITS) _Atomic uint8_t
		filter[1u << CTX_RT_FILTER_BITS]; /* 255: at least so many, for good */
	_Atomic(_Atomic uint64_t *) tables[CTX_RT_TABLES];
};

static inline uint64_t ctx_rt_address_hash(uint64_t address)
{
	return (address >> 3) * UINT64_C(0x9e3779b97f4a7c15);
}

/* The place of its counter in the filter. */
static inline size_t ctx_rt_filter_place(uint64_t address)
{
	uint64_t region = (address >> CTX_RT_FILTER_REGION_BITS) * UINT64_C(0x9e3779b97f4a7c15);

	return (size_t)(region >> (64 - CTX_RT_FILTER_BITS + CTX_RT_FILTER_LINE_BITS)
					  << CTX_RT_FILTER_LINE_BITS |
			ctx_rt_address_hash(address) >> (64 - CTX_RT_FILTER_LINE_BITS));
}

/* False: it is not there. Almost always right about that, and costs a load and two multiplications. */
static inline bool ctx_rt_addresses_may_have(struct ctx_rt_addresses *set, uint64_t address)
{
	return atomic_load_explicit(&set->filter[ctx_rt_filter_place(address)], memory_order_relaxed) != 0;
}

/*
 * Adds an address that is not 0. One that is there already may be there twice. False: no memory. errno is
 * kept.
 */
bool ctx_rt_addresses_add(struct ctx_rt_addresses *set, uint64_t address);

/* Removes it. False: it was not there. Of threads that remove the same address one gets true. */
bool ctx_rt_addresses_take(struct ctx_rt_addresses *set, uint64_t address);

#endif
