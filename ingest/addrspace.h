/*
 * Address space of one process: what was mapped where, now.
 *
 * Maps come in time order. A new map replaces what it overlaps (the recorder is not told of every munmap).
 * Each change makes a new generation: whoever has resolved an address compares generations. Source:
 * requirement E14.
 */
#ifndef CTX_INGEST_ADDRSPACE_H
#define CTX_INGEST_ADDRSPACE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct ctx_mapped {
	uint64_t begin, end;  /* addresses, half-open */
	uint64_t file_offset; /* of begin */
	uint32_t object;      /* object id */
	uint32_t record;      /* number of the map event it comes from: a map that is cut in two keeps it */
};

struct ctx_addrspace {		 /* all zero is a valid empty one */
	struct ctx_mapped *maps; /* owned; sorted by begin, disjoint */
	size_t n, cap;
	uint32_t generation; /* changes with every map and unmap */
};

void ctx_addrspace_deinit(struct ctx_addrspace *space);

/* Maps [begin, end); what it overlaps is cut back or dropped. An empty range does nothing. O(maps). Fails
 * with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_addrspace_map(struct ctx_addrspace *space, const struct ctx_mapped *map,
						 struct ctx_err *err);

/* Takes [begin, end) out. */
CTX_MUST_CHECK enum ctx_status ctx_addrspace_unmap(struct ctx_addrspace *space, uint64_t begin, uint64_t end,
						   struct ctx_err *err);

/* The map that holds `address`, or NULL. O(log maps). Borrowed until the next change. */
const struct ctx_mapped *ctx_addrspace_find(const struct ctx_addrspace *space, uint64_t address);

#endif
