/*
 * Which allocations were never freed, and how many of their bytes. Leaks are known only at the end,
 * but belong to the time of the allocation, so the heap records of a process are read once in
 * advance.
 */
#ifndef CTX_MODEL_HEAP_LEAKS_H
#define CTX_MODEL_HEAP_LEAKS_H

#include "base/map64.h"
#include "base/ranges.h"
#include "model/traced.h"

struct ctx_heap_rest { /* remaining part of a map, or all of it */
	uint64_t record;
	uint64_t bytes;
};

struct ctx_heap_live { /* a live block */
	uint64_t address;
	uint64_t record; /* number + 1; 0: a free slot */
};

/*
 * Memory: a bit per heap record, plus the blocks live at one time. All zero is valid, without records.
 *
 * A new block at an address in use: its release was not recorded, or a realloc of another thread frees
 * the old one, and its record, which has the time at which it ended, is still to come. With `overlaps` the
 * next realloc from this address frees the old one, and what else frees the address the new one. Without,
 * as in gprofng, the new one does not replace the old one: it stays leaked.
 */
struct ctx_heap_leaks {
	uint8_t *bits; /* owned; by record: never freed */
	size_t bits_cap;
	bool overlaps;			/* may be set before the first record */
	uint64_t max_live;		/* blocks at a time, may be changed; 0: any number */
	uint64_t n_left_out;		/* blocks beyond them, which are no leaks */
	uint64_t n;			/* the largest number, and one more */
	uint64_t n_reallocs, n_resized; /* the latter with the address that they resized */
	uint64_t n_again;		/* blocks at an address that is in use */
	struct ctx_heap_rest *maps;	/* owned; by record: bytes of maps that remain */
	size_t n_maps, maps_cap;

	/* While records are added. */
	struct ctx_heap_live *live; /* owned; open addressing */
	size_t n_live, n_slots;
	struct ctx_map64 older;	  /* with overlaps: address -> record of the old block */
	struct ctx_ranges ranges; /* maps, each with its record; at most CTX_RANGES_MAX are tracked */
};

void ctx_heap_leaks_deinit(struct ctx_heap_leaks *leaks);

/*
 * Adds a heap record, in order of time. Each has a number of its own: bits take as much memory as the
 * largest. CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_heap_leaks_add(struct ctx_heap_leaks *leaks, uint64_t record,
						  const struct ctx_traced *operation, struct ctx_err *err);

/* Ends the records: live blocks are leaks. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_heap_leaks_finish(struct ctx_heap_leaks *leaks, struct ctx_err *err);

/*
 * Whether the collector omits the address that realloc resizes, as Debian's gprofng 2.40 does.
 * Every resized block then counts as never freed.
 */
bool ctx_heap_leaks_is_blind(const struct ctx_heap_leaks *leaks);

/* Whether record `number` is leaked, wholly or in part, also one of 0 bytes. After ctx_heap_leaks_finish. */
bool ctx_heap_leaks_is(const struct ctx_heap_leaks *leaks, uint64_t number);

/*
 * Bytes of record `number` that are leaked; `operation` is that record. After ctx_heap_leaks_finish.
 */
uint64_t ctx_heap_leaks_get(const struct ctx_heap_leaks *leaks, uint64_t number,
			    const struct ctx_traced *operation);

#endif
