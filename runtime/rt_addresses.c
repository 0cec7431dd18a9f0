#include "runtime/rt_addresses.h"

#include "runtime/rt_memory.h"

#define SLOTS 8u      /* of a bucket: a cache line */
#define FIRST_BITS 9u /* of the number of buckets of the first table: 32 KiB */

typedef _Atomic uint64_t slot;

static size_t bytes_of(unsigned table)
{
	return sizeof(slot) * SLOTS << (FIRST_BITS + table);
}

static slot *bucket_of(slot *table, unsigned number, uint64_t hash)
{
	return table + ((hash >> 8) & ((UINT64_C(1) << (FIRST_BITS + number)) - 1)) * SLOTS;
}

/* The table, which is made if it is not there; NULL: no memory. */
static slot *table_at(struct ctx_rt_addresses *set, unsigned number)
{
	slot *table = atomic_load_explicit(&set->tables[number], memory_order_acquire), *other = NULL;

	if (table != NULL)
		return table;
	table = ctx_rt_memory_map(bytes_of(number));
	if (table == NULL)
		return NULL;
	if (atomic_compare_exchange_strong(&set->tables[number], &other, table))
		return table;
	ctx_rt_memory_unmap(table, bytes_of(number));
	return other;
}

static void count_up(_Atomic uint8_t *counter)
{
	uint8_t n = atomic_load_explicit(counter, memory_order_relaxed);

	while (n != UINT8_MAX && !atomic_compare_exchange_weak(counter, &n, (uint8_t)(n + 1)))
		;
}

static void count_down(_Atomic uint8_t *counter)
{
	uint8_t n = atomic_load_explicit(counter, memory_order_relaxed);

	while (n != UINT8_MAX && n != 0 && !atomic_compare_exchange_weak(counter, &n, (uint8_t)(n - 1)))
		;
}

bool ctx_rt_addresses_add(struct ctx_rt_addresses *set, uint64_t address)
{
	uint64_t hash = ctx_rt_address_hash(address);

	for (unsigned number = 0; number < CTX_RT_TABLES; number++) {
		slot *table = table_at(set, number), *bucket;

		if (table == NULL)
			return false;
		bucket = bucket_of(table, number, hash);
		for (unsigned i = 0; i < SLOTS; i++) {
			uint64_t none = 0;

			if (atomic_load_explicit(&bucket[i], memory_order_relaxed) != 0)
				continue;
			/* First the filter: who finds the address there has passed it. */
			count_up(&set->filter[ctx_rt_filter_place(address)]);
			if (atomic_compare_exchange_strong(&bucket[i], &none, address))
				return true;
			count_down(&set->filter[ctx_rt_filter_place(address)]);
		}
	}
	return false;
}

bool ctx_rt_addresses_take(struct ctx_rt_addresses *set, uint64_t address)
{
	uint64_t hash = ctx_rt_address_hash(address);

	if (!ctx_rt_addresses_may_have(set, address))
		return false;
	for (unsigned number = 0; number < CTX_RT_TABLES; number++) {
		slot *table = atomic_load_explicit(&set->tables[number], memory_order_acquire), *bucket;

		if (table == NULL)
			return false;
		bucket = bucket_of(table, number, hash);
		for (unsigned i = 0; i < SLOTS; i++) {
			uint64_t wanted = address;

			if (atomic_load_explicit(&bucket[i], memory_order_relaxed) != address ||
			    !atomic_compare_exchange_strong(&bucket[i], &wanted, 0))
				continue;
			count_down(&set->filter[ctx_rt_filter_place(address)]);
			return true;
		}
	}
	return false;
}
