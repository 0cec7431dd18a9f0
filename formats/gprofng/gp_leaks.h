/*
 * Which allocations were never freed, and how many of their bytes. Leaks are known only at the end,
 * but belong to the time of the allocation, so the heap records of an experiment are read once in
 * advance.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_LEAKS_H
#define CTX_FORMATS_GPROFNG_GP_LEAKS_H

#include "base/ranges.h"
#include "formats/gprofng/gp_event.h"

struct ctx_gp_rest { /* remaining part of a map, or all of it */
	uint64_t record;
	uint64_t bytes;
};

struct ctx_gp_live { /* a live block */
	uint64_t address;
	uint64_t record; /* number + 1; 0: a free slot */
};

/*
 * Memory: a bit per heap record, plus the blocks live at one time. A new block at an address in use
 * does not replace the old one, as in gprofng: it stays leaked. All zero is valid, without records.
 */
struct ctx_gp_leaks {
	uint8_t *bits; /* owned; by record: never freed */
	size_t bits_cap;
	uint64_t n;			/* records */
	uint64_t n_reallocs, n_resized; /* the latter with the address that they resized */
	uint64_t n_again;		/* blocks at an address that is in use */
	struct ctx_gp_rest *maps;	/* owned; by record: bytes of maps that remain */
	size_t n_maps, maps_cap;

	/* While records are added. */
	struct ctx_gp_live *live; /* owned; open addressing */
	size_t n_live, n_slots;
	struct ctx_ranges ranges; /* maps, each with its record; at most CTX_RANGES_MAX are tracked */
};

void ctx_gp_leaks_deinit(struct ctx_gp_leaks *leaks);

/* Adds the next heap record, in order of time. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_leaks_add(struct ctx_gp_leaks *leaks, const struct ctx_gp_event *event,
						struct ctx_err *err);

/* Ends the records: live blocks are leaks. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_leaks_finish(struct ctx_gp_leaks *leaks, struct ctx_err *err);

/*
 * Whether the collector omits the address that realloc resizes, as Debian's gprofng 2.40 does.
 * Every resized block then counts as never freed.
 */
bool ctx_gp_leaks_is_blind(const struct ctx_gp_leaks *leaks);

/* Bytes of record `number` that are leaked; `event` is that record. After ctx_gp_leaks_finish. */
uint64_t ctx_gp_leaks_get(const struct ctx_gp_leaks *leaks, uint64_t number,
			  const struct ctx_gp_event *event);

#endif
