#include "formats/export/gprofng_object.h"

#include "base/bisect.h"

const struct ctx_gpx_segment *ctx_gpx_object_segment(const struct ctx_gpx_object *object, uint64_t address)
{
	size_t n = ctx_count_up_to(object->segments, object->n_segments, address, address);
	const struct ctx_gpx_segment *segment = n != 0 ? &object->segments[n - 1] : NULL;

	return segment != NULL && address - segment->address < segment->size ? segment : NULL;
}
