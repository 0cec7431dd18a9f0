/*
 * Places that samples were in: which load object, and where in its file. Kept while a recording runs when somebody asks for them
 * at its end (which source files were at work?).
 *
 * A place costs about 32 bytes; past a fixed number of them the objects of all further ones count as sampled anywhere.
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
	uint8_t *anywhere;	 /* by object: not all of its places are known; owned */
	size_t n, cap;		 /* of `anywhere` */
};

void ctx_exp_places_deinit(struct ctx_exp_places *set);

/* Adds a place. Never fails: what cannot be kept makes its object one that was sampled anywhere. */
void ctx_exp_places_add(struct ctx_exp_places *set, uint32_t object, uint64_t file_offset);

/* From now on the object was sampled anywhere. If memory is short even for this, all objects are. */
void ctx_exp_places_add_all(struct ctx_exp_places *set, uint32_t object);

struct ctx_exp_offsets {
	uint64_t *offsets; /* ascending, each once; owned by the caller: free() */
	size_t n;
	bool all; /* there are more, nobody knows which */
};

/* The offsets in an object. O(places). CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_places_get(const struct ctx_exp_places *set, uint32_t object,
						  struct ctx_exp_offsets *ret, struct ctx_err *err);

#endif
