/*
 * Sampled places: load object and offset in its file. Collected during a recording if they are
 * needed at its end (which source files were sampled?).
 *
 * A place costs about 32 bytes. Beyond a fixed number of places, objects count as sampled anywhere.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_PLACES_H
#define CTX_FORMATS_EXPERIMENT_EXP_PLACES_H

#include "base/map64.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define CTX_EXP_PLACES_MAX ((size_t)1 << 19)

struct ctx_exp_places {		 /* all zero is a valid empty set */
	struct ctx_map64 places; /* object and offset; the value is the object */
	uint8_t *anywhere;	 /* by object: some of its places are unknown; owned */
	size_t n, cap;		 /* of `anywhere` */
};

void ctx_exp_places_deinit(struct ctx_exp_places *set);

/* Adds a place. Never fails: if it cannot be stored, its object counts as sampled anywhere. */
void ctx_exp_places_add(struct ctx_exp_places *set, uint32_t object, uint64_t file_offset);

/* Marks an object as sampled anywhere. If that cannot be stored, all objects count so. */
void ctx_exp_places_add_all(struct ctx_exp_places *set, uint32_t object);

struct ctx_exp_offsets {
	uint64_t *offsets; /* ascending, each once; owned by the caller: free() */
	size_t n;
	bool all; /* further offsets are unknown */
};

/* The sampled offsets of an object. O(places). Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_places_get(const struct ctx_exp_places *set, uint32_t object,
						  struct ctx_exp_offsets *ret, struct ctx_err *err);

#endif
