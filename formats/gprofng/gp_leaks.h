/*
 * Which allocations were freed by nobody, and how much of them. Known only at the end, but a leak belongs to the time of its allocation: so
 * the heap records of an experiment are read once in advance.
 */
#ifndef CTX_FORMATS_GPROFNG_GP_LEAKS_H
#define CTX_FORMATS_GPROFNG_GP_LEAKS_H

#include "base/ranges.h"
#include "formats/gprofng/gp_event.h"

struct ctx_gp_rest { /* of a map that is still there, or the whole */
	uint64_t record;
	uint64_t bytes;
};

struct ctx_gp_live { /* a block that was not freed yet */
	uint64_t address;
	uint64_t record; /* number + 1; 0: a free slot */
};

/*
 * Memory: a bit per heap record, and what is allocated at one time. A block at an address that is in use already does not replace the one
 * there, as in gprofng: it stays leaked. All zero is one without records.
 */
struct ctx_gp_leaks {
	uint8_t *bits; /* owned; by record: nobody freed it */
	size_t bits_cap;
	uint64_t n;			/* records */
	uint64_t n_reallocs, n_resized; /* the latter with the address of what they resized */
	uint64_t n_again;		/* blocks at an address that is in use */
	struct ctx_gp_rest *maps;	/* owned; by record; how much of maps is left */
	size_t n_maps, maps_cap;

	/* While records are added. */
	struct ctx_gp_live *live; /* owned; open addressing */
	size_t n_live, n_slots;
	struct ctx_ranges ranges; /* maps, each with its record; no more than CTX_RANGES_MAX are followed */
};

void ctx_gp_leaks_deinit(struct ctx_gp_leaks *leaks);

/* Adds the next heap record, in order of time. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_leaks_add(struct ctx_gp_leaks *leaks, const struct ctx_gp_event *event,
						struct ctx_err *err);

/* No more records: what is live now is leaked. CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_gp_leaks_finish(struct ctx_gp_leaks *leaks, struct ctx_err *err);

/*
 * Whether the collector leaves out what realloc resizes, as Debian's gprofng 2.40 does: every block that was resized is then one that
 * nobody freed.
 */
bool ctx_gp_leaks_is_blind(const struct ctx_gp_leaks *leaks);

/* Bytes of record `number` that are leaked; `event` is that record. After ctx_gp_leaks_finish. */
uint64_t ctx_gp_leaks_get(const struct ctx_gp_leaks *leaks, uint64_t number,
			  const struct ctx_gp_event *event);

#endif
