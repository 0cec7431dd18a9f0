#include "formats/export/gprofng_object.h"

const struct ctx_gpx_segment *ctx_gpx_object_segment(const struct ctx_gpx_object *object, uint64_t address)
{
	size_t low = 0, high = object->n_segments;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct ctx_gpx_segment *segment = &object->segments[middle];

		if (address < segment->address)
			high = middle;
		else if (address - segment->address >= segment->size)
			low = middle + 1;
		else
			return segment;
	}
	return NULL;
}
