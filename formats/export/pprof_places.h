/*
 * Places of load objects in one address space, for a profile.proto of several processes.
 *
 *	object --executable segments, else recorded mappings--> pieces --bias--> mappings of the profile
 *
 * A reader finds an address in a file by (address - start + offset), so a piece's begin and file offset come from
 * the object's own program headers, where its file is available, else from where it was mapped. An object with a
 * file stands at its own addresses (some readers know no others, and runs are alike), others where their first
 * process had them, unless another object stands there.
 */
#ifndef CTX_FORMATS_EXPORT_PPROF_PLACES_H
#define CTX_FORMATS_EXPORT_PPROF_PLACES_H

#include "model/export.h"

struct ctx_pprof_piece {
	uint32_t object;
	uint64_t begin, end;  /* in the object's own address space, of whole pages */
	uint64_t bias;	      /* added to an address of the object, modulo 2^64 */
	uint64_t file_offset; /* of `begin` */
};

struct ctx_pprof_places {
	const struct ctx_export_input *input;
	struct ctx_pprof_piece *pieces; /* owned; those of an object are together */
	size_t n, cap;
	size_t *first;	  /* owned; by object: its first piece */
	size_t *count;	  /* owned; by object: how many */
	uint64_t n_moved; /* steps taken in the area of objects whose place was taken */
};

/* The addresses of an object that are used: [low, high]. */
struct ctx_pprof_extent {
	uint64_t low, high;
	bool any;
};

/*
 * Places the objects with an extent (by object id), `first` (CTX_NONE: none) before all others. Reads the files of those that are ELF files, one at a time.
 * O(bytes of files + objects * mappings). CTX_E_NOMEM. Release in any case.
 */
CTX_MUST_CHECK enum ctx_status ctx_pprof_places_init(struct ctx_pprof_places *places,
						     const struct ctx_export_input *input,
						     const struct ctx_pprof_extent *extents, uint32_t first,
						     struct ctx_err *err);
void ctx_pprof_places_deinit(struct ctx_pprof_places *places);

/* The piece that holds an address of the object; NULL: none does. */
const struct ctx_pprof_piece *ctx_pprof_places_find(const struct ctx_pprof_places *places, uint32_t object,
						    uint64_t address);

#endif
