/*
 * Address space of one process: its present mappings.
 *
 * Maps come in time order. A new map replaces what it overlaps (not every munmap is recorded).
 * Users that cache resolved addresses compare generations: a change that could alter the result of
 * an earlier look-up starts a new one; others do not (a library that is loaded where nothing was
 * mapped or looked up). Source: requirement E14.
 */
#ifndef CTX_INGEST_ADDRSPACE_H
#define CTX_INGEST_ADDRSPACE_H

#include "base/err.h"
#include "base/ranges.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ctx_mapped {
	uint64_t begin, end;  /* addresses, half-open */
	uint64_t file_offset; /* of begin */
	uint32_t object;      /* object id */
	uint32_t record;      /* number of its map event: kept by both parts of a map that is split */
};

struct ctx_addrspace_map;

struct ctx_addrspace {			/* all zero is a valid empty one */
	struct ctx_ranges ranges;	/* of indices into `maps` */
	struct ctx_addrspace_map *maps; /* owned */
	size_t n, cap;
	uint32_t unused; /* 1 + index of a free entry of `maps`, which has the next one; 0: none */
	uint32_t generation;
	uint64_t missed_low, missed_end; /* range of the addresses that were looked up and not mapped */
};

void ctx_addrspace_deinit(struct ctx_addrspace *space);

/*
 * Maps [begin, end); overlapped maps are cut or dropped. An empty range has no effect. O(maps).
 * Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_addrspace_map(struct ctx_addrspace *space, const struct ctx_mapped *map,
						 struct ctx_err *err);

/* Unmaps [begin, end). Errors and cost as above. */
CTX_MUST_CHECK enum ctx_status ctx_addrspace_unmap(struct ctx_addrspace *space, uint64_t begin, uint64_t end,
						   struct ctx_err *err);

/*
 * Whether `address` is mapped: what is left of its map around it. Marks the address as looked up.
 * O(log maps).
 */
bool ctx_addrspace_find(struct ctx_addrspace *space, uint64_t address, struct ctx_mapped *ret);

/* The i-th mapped range, from the highest address down; false: there are fewer. O(1). */
bool ctx_addrspace_part(const struct ctx_addrspace *space, size_t i, struct ctx_mapped *ret);

/* As ctx_addrspace_find, without the mark. */
bool ctx_addrspace_peek(const struct ctx_addrspace *space, uint64_t address, struct ctx_mapped *ret);

#endif
