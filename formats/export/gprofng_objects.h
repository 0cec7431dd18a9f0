/*
 * Load objects in gprofng's format: a file in archives/ for each, from which gprofng reads the
 * names of functions. If the recorded file is available, it is archived with our symbols instead of
 * its own. Otherwise the archived file has only these symbols: its segments are holes.
 */
#ifndef CTX_FORMATS_EXPORT_GPROFNG_OBJECTS_H
#define CTX_FORMATS_EXPORT_GPROFNG_OBJECTS_H

#include "base/arena.h"
#include "formats/export/gprofng_object.h"
#include "formats/export/gprofng_stacks.h"

struct ctx_gpx_objects {
	struct ctx_arena arena;
	struct ctx_gpx_object *items; /* owned; by object id, then CTX_GPX_OBJECTS_MORE */
	uint32_t n;
	uint32_t n_copies, n_made; /* number of used ones */
};

/*
 * Collects the objects of all used places and writes their files to `directory`, which is created.
 * O(places log places). CTX_E_IO, CTX_E_NOMEM, CTX_E_LIMIT (addresses of one object too far apart).
 * Release in any case.
 */
CTX_MUST_CHECK enum ctx_status ctx_gpx_objects_init(struct ctx_gpx_objects *objects,
						    const struct ctx_gpx_stacks *stacks,
						    const char *directory, struct ctx_err *err);
void ctx_gpx_objects_deinit(struct ctx_gpx_objects *objects);

#endif
