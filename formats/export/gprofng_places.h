/*
 * Places of load objects in the address space of a process: where they were mapped, if that is
 * known and free. A database has addresses relative to objects; several objects may have been
 * mapped at one address over time, others at none (JIT code). These get a free place.
 */
#ifndef CTX_FORMATS_EXPORT_GPROFNG_PLACES_H
#define CTX_FORMATS_EXPORT_GPROFNG_PLACES_H

#include "formats/export/gprofng_objects.h"

struct ctx_gpx_range {
	uint64_t begin, end;
	uint32_t object;
	uint64_t file_offset;
};

struct ctx_gpx_place_of { /* of an object in the current process */
	uint32_t turn;	  /* of the process that the other fields belong to */
	uint64_t bias;	  /* added to an address of the object */
	uint64_t since_ns;
};

struct ctx_gpx_places {
	const struct ctx_gpx_objects *objects;
	struct ctx_mapping_info *mappings; /* owned; by process, object and time */
	size_t n_mappings;
	uint32_t process, turn;
	struct ctx_gpx_place_of *places; /* owned; by object */
	struct ctx_gpx_range *ranges;	 /* owned; of the current process, by address */
	size_t n_ranges, ranges_cap;
	uint64_t n_moved; /* objects not placed where they were mapped, over all processes */
};

CTX_MUST_CHECK enum ctx_status ctx_gpx_places_init(struct ctx_gpx_places *places,
						   const struct ctx_export_input *input,
						   const struct ctx_gpx_objects *objects,
						   struct ctx_err *err);
void ctx_gpx_places_deinit(struct ctx_gpx_places *places);

/* Forgets the previous process. */
void ctx_gpx_places_begin(struct ctx_gpx_places *places, uint32_t process);

/* Places an object, once. O(log mappings + ranges). CTX_E_NOMEM, CTX_E_LIMIT. */
CTX_MUST_CHECK enum ctx_status ctx_gpx_places_put(struct ctx_gpx_places *places, uint32_t object,
						  struct ctx_err *err);

/* The address in the process, for a placed object. */
uint64_t ctx_gpx_places_address(const struct ctx_gpx_places *places, uint32_t object, uint64_t address);

/* Whether an object covers the address. */
bool ctx_gpx_places_has(const struct ctx_gpx_places *places, uint64_t address);

#endif
