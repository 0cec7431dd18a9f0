/*
 * Address space of one process: what was mapped where, now.
 *
 * Maps come in time order. A new map replaces what it overlaps (the recorder is not told of every munmap).
 * Whoever has resolved addresses compares generations: a change that could give another answer to a look-up made
 * before starts a new one, others do not (a library that is loaded where nothing was and nobody looked leaves
 * all that is known as it is). Source: requirement E14.
 */
#ifndef CTX_INGEST_ADDRSPACE_H
#define CTX_INGEST_ADDRSPACE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_mapped {
	uint64_t begin, end;  /* addresses, half-open */
	uint64_t file_offset; /* of begin */
	uint32_t object;      /* object id */
	uint32_t record;      /* number of the map event it comes from: a map that is cut in two keeps it */
	bool used;	      /* an address in it was looked up */
};

struct ctx_addrspace {		 /* all zero is a valid empty one */
	struct ctx_mapped *maps; /* owned; sorted by begin, disjoint */
	size_t n, cap;
	uint32_t generation;
	uint64_t missed_low, missed_end; /* addresses that were looked up and not mapped lie in between */
};

void ctx_addrspace_deinit(struct ctx_addrspace *space);

/* Maps [begin, end); what it overlaps is cut back or dropped. An empty range does nothing. O(maps). Fails
 * with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_addrspace_map(struct ctx_addrspace *space, const struct ctx_mapped *map,
						 struct ctx_err *err);

/* Takes [begin, end) out. */
CTX_MUST_CHECK enum ctx_status ctx_addrspace_unmap(struct ctx_addrspace *space, uint64_t begin, uint64_t end,
						   struct ctx_err *err);

/* The map that holds `address`, or NULL; remembers that it was asked for. O(log maps). Borrowed until the next
 * change. */
const struct ctx_mapped *ctx_addrspace_find(struct ctx_addrspace *space, uint64_t address);

/* The same for one who only looks what could be there: it is not remembered. */
const struct ctx_mapped *ctx_addrspace_peek(const struct ctx_addrspace *space, uint64_t address);

#endif
