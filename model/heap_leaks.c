/*
 *	malloc, realloc --> live: address -> record -- free, realloc --> the record's bit is cleared
 *	mmap, mremap, brk -> ranges ----------------- munmap, mmap ---> cut
 */
#include "model/heap_leaks.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

#define FIRST_SLOTS 1024u

void ctx_heap_leaks_deinit(struct ctx_heap_leaks *leaks)
{
	free(leaks->bits);
	free(leaks->maps);
	free(leaks->live);
	ctx_map64_deinit(&leaks->older);
	ctx_ranges_deinit(&leaks->ranges);
	*leaks = (struct ctx_heap_leaks){0};
}

static void set_bit(struct ctx_heap_leaks *leaks, uint64_t record, bool value)
{
	uint8_t bit = (uint8_t)(1u << record % 8);

	if (value)
		leaks->bits[record / 8] |= bit;
	else
		leaks->bits[record / 8] &= (uint8_t)~bit;
}

/* Live blocks */

static size_t home_of(const struct ctx_heap_leaks *leaks, uint64_t address)
{
	return (size_t)(ctx_hash64(address) >> 20) & (leaks->n_slots - 1);
}

/* The slot of the address, or the free slot for it. */
static size_t find(const struct ctx_heap_leaks *leaks, uint64_t address)
{
	size_t i = home_of(leaks, address);

	while (leaks->live[i].record != 0 && leaks->live[i].address != address)
		i = (i + 1) & (leaks->n_slots - 1);
	return i;
}

static enum ctx_status grow(struct ctx_heap_leaks *leaks, struct ctx_err *err)
{
	struct ctx_heap_live *old = leaks->live;
	size_t n = leaks->n_slots;
	struct ctx_heap_live *live = ctx_calloc(n != 0 ? n * 2 : FIRST_SLOTS, sizeof(*live));

	if (live == NULL)
		return ctx_err_nomem(err);
	leaks->live = live;
	leaks->n_slots = n != 0 ? n * 2 : FIRST_SLOTS;
	for (size_t i = 0; i < n; i++) {
		if (old[i].record != 0)
			live[find(leaks, old[i].address)] = old[i];
	}
	free(old);
	return CTX_OK;
}

/* The new block is the live one, the old one waits for a realloc. */
static enum ctx_status replace(struct ctx_heap_leaks *leaks, struct ctx_heap_live *slot, uint64_t record,
			       struct ctx_err *err)
{
	uint64_t old = slot->record - 1;
	uint32_t *place = old < CTX_MAP64_NONE ? ctx_map64_place(&leaks->older, slot->address) : NULL;

	if (old < CTX_MAP64_NONE && place == NULL)
		return ctx_err_nomem(err);
	if (place != NULL)
		*place = (uint32_t)old;
	slot->record = record + 1;
	return CTX_OK;
}

static enum ctx_status allocate(struct ctx_heap_leaks *leaks, uint64_t address, uint64_t record,
				struct ctx_err *err)
{
	enum ctx_status status = CTX_OK;
	struct ctx_heap_live *slot;

	if (leaks->max_live != 0 && leaks->n_live >= leaks->max_live) {
		leaks->n_left_out++;
		return CTX_OK;
	}
	if (leaks->n_live * 2 >= leaks->n_slots)
		status = grow(leaks, err);
	if (status != CTX_OK)
		return status;
	set_bit(leaks, record, true);
	slot = &leaks->live[find(leaks, address)];
	if (slot->record != 0) {
		leaks->n_again++;
		return leaks->overlaps ? replace(leaks, slot, record, err) : CTX_OK;
	}
	*slot = (struct ctx_heap_live){address, record + 1};
	leaks->n_live++;
	return CTX_OK;
}

/*
 * Backward-shift deletion: entries after the hole move up as far as their hash allows, so that
 * searches still find them.
 */
static void release(struct ctx_heap_leaks *leaks, uint64_t address)
{
	size_t mask = leaks->n_slots - 1, hole;

	if (leaks->n_slots == 0 || leaks->live[hole = find(leaks, address)].record == 0)
		return;
	set_bit(leaks, leaks->live[hole].record - 1, false);
	leaks->n_live--;
	for (size_t i = (hole + 1) & mask; leaks->live[i].record != 0; i = (i + 1) & mask) {
		size_t home = home_of(leaks, leaks->live[i].address);

		if (((i - home) & mask) >= ((i - hole) & mask)) {
			leaks->live[hole] = leaks->live[i];
			hole = i;
		}
	}
	leaks->live[hole] = (struct ctx_heap_live){0};
}

/* Frees the older block of a realloc's old address, if there are two. */
static bool release_older(struct ctx_heap_leaks *leaks, uint64_t address)
{
	uint32_t record = leaks->overlaps ? ctx_map64_get(&leaks->older, address) : CTX_MAP64_NONE;

	if (record == CTX_MAP64_NONE)
		return false;
	set_bit(leaks, record, false);
	ctx_map64_remove(&leaks->older, address);
	return true;
}

/* Maps */

static enum ctx_status map(struct ctx_heap_leaks *leaks, const struct ctx_traced *operation, uint64_t record,
			   struct ctx_err *err)
{
	struct ctx_range range = {.begin = operation->address, .value = record};
	uint64_t gone;

	if (operation->address == 0 || operation->size == 0 ||
	    __builtin_add_overflow(operation->address, operation->size, &range.end))
		return CTX_OK;
	if (!ctx_heap_maps(operation->operation) || ctx_heap_maps_file(operation->operation))
		return ctx_ranges_cut(&leaks->ranges, range.begin, range.end, &gone, err);
	return ctx_ranges_put(&leaks->ranges, range, &gone, err);
}

/* Records */

enum ctx_status ctx_heap_leaks_add(struct ctx_heap_leaks *leaks, uint64_t record,
				   const struct ctx_traced *operation, struct ctx_err *err)
{
	size_t n_bytes = (size_t)((leaks->n + 7) / 8);
	uint64_t freed = ctx_traced_freed(operation);
	enum ctx_status status = ctx_grow(&leaks->bits, &leaks->bits_cap, (size_t)(record / 8) + 1, err);

	if (status != CTX_OK)
		return status;
	if (record >= leaks->n) {
		memset(leaks->bits + n_bytes, 0, (size_t)(record / 8) + 1 - n_bytes);
		leaks->n = record + 1;
	}
	switch (operation->operation) {
	case CTX_HEAP_FREE:
		release(leaks, freed);
		return CTX_OK;
	case CTX_HEAP_REALLOCATE:
		leaks->n_reallocs++;
		leaks->n_resized += operation->old_address != 0;
		if (freed != 0 && !release_older(leaks, freed))
			release(leaks, freed);
		return operation->address != 0 ? allocate(leaks, operation->address, record, err) : CTX_OK;
	case CTX_HEAP_ALLOCATE:
		return operation->address != 0 ? allocate(leaks, operation->address, record, err) : CTX_OK;
	default:
		return ctx_heap_maps(operation->operation) || ctx_heap_unmaps(operation->operation)
			       ? map(leaks, operation, record, err)
			       : CTX_OK;
	}
}

static int by_record(const void *a, const void *b)
{
	const struct ctx_heap_rest *left = a, *right = b;

	return left->record < right->record ? -1 : left->record > right->record;
}

enum ctx_status ctx_heap_leaks_finish(struct ctx_heap_leaks *leaks, struct ctx_err *err)
{
	const struct ctx_range *ranges = leaks->ranges.items;
	size_t n_ranges = leaks->ranges.n, n = 0;
	enum ctx_status status = ctx_grow(&leaks->maps, &leaks->maps_cap, n_ranges, err);

	if (status != CTX_OK)
		return status;
	for (size_t i = 0; i < n_ranges; i++)
		leaks->maps[i] = (struct ctx_heap_rest){ranges[i].value, ranges[i].end - ranges[i].begin};
	if (n_ranges != 0)
		qsort(leaks->maps, n_ranges, sizeof(*leaks->maps), by_record);
	for (size_t i = 0; i < n_ranges; i++) {
		if (n != 0 && leaks->maps[n - 1].record == leaks->maps[i].record)
			leaks->maps[n - 1].bytes += leaks->maps[i].bytes;
		else
			leaks->maps[n++] = leaks->maps[i];
		set_bit(leaks, ranges[i].value, true);
	}
	leaks->n_maps = n;
	free(leaks->live);
	ctx_ranges_deinit(&leaks->ranges);
	leaks->live = NULL;
	leaks->n_live = leaks->n_slots = 0;
	return CTX_OK;
}

bool ctx_heap_leaks_is_blind(const struct ctx_heap_leaks *leaks)
{
	return leaks->n_reallocs != 0 && leaks->n_resized == 0 && leaks->n_again != 0;
}

bool ctx_heap_leaks_is(const struct ctx_heap_leaks *leaks, uint64_t number)
{
	return number < leaks->n && (leaks->bits[number / 8] >> number % 8 & 1) != 0;
}

uint64_t ctx_heap_leaks_get(const struct ctx_heap_leaks *leaks, uint64_t number,
			    const struct ctx_traced *operation)
{
	const struct ctx_heap_rest key = {.record = number}, *rest = NULL;

	if (!ctx_heap_leaks_is(leaks, number))
		return 0;
	if (!ctx_heap_maps(operation->operation))
		return operation->size;
	if (leaks->n_maps != 0)
		rest = bsearch(&key, leaks->maps, leaks->n_maps, sizeof(key), by_record);
	return rest != NULL ? rest->bytes : 0;
}
