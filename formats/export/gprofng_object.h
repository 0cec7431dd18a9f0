/*
 * One load object of an export for gprofng:
 *
 *	its addresses	| page page page |        | page |	what samples are in
 *	segments	| segment 0      |        | 1    |	parts of the file: address, offset
 *	symbols		 |--a--| |--b--|            |-c-|	so that each address has exactly our function
 */
#ifndef CTX_FORMATS_EXPORT_GPROFNG_OBJECT_H
#define CTX_FORMATS_EXPORT_GPROFNG_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_gpx_symbol {
	uint64_t begin, end;
	uint32_t function;
};

struct ctx_gpx_segment {
	uint64_t address, size; /* in the object's own address space; whole pages */
	uint64_t file_offset;
};

struct ctx_gpx_object {
	const char *name;		/* plain text, unique among the objects; NULL: no samples in it */
	struct ctx_gpx_symbol *symbols; /* owned; by address, not overlapping */
	size_t n_symbols, symbols_cap;
	struct ctx_gpx_segment *segments; /* owned; by address */
	size_t n_segments, segments_cap;
	bool is_copy; /* the file itself is archived */
};

/* The segment with an address of an object; NULL for addresses without samples. */
const struct ctx_gpx_segment *ctx_gpx_object_segment(const struct ctx_gpx_object *object, uint64_t address);

#endif
