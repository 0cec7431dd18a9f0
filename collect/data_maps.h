/*
 * What is mapped where data is, of all processes, for the addresses that samples bring.
 *
 *	MMAP2, FORK, COMM of an exec, EXIT --> ranges of the process, each with the name of its map
 *	a process from before the recording --> /proc/PID/maps, when it is asked for first
 *
 * The kernel reports maps of code anyway, and those of data where an event asks for them (mmap_data). It does not report what
 * is unmapped, nor how a stack grows: below [stack], up to the next map, is the stack.
 */
#ifndef CTX_COLLECT_DATA_MAPS_H
#define CTX_COLLECT_DATA_MAPS_H

#include "base/map64.h"
#include "base/ranges.h"
#include "base/strtab.h"
#include "collect/perfrecord.h"

struct ctx_data_space;

struct ctx_data_maps {		       /* all zero is a valid empty one */
	struct ctx_map64 place_of_pid; /* in `spaces` */
	struct ctx_data_space *spaces; /* owned */
	size_t n, cap;
	struct ctx_strtab names;
};

void ctx_data_maps_deinit(struct ctx_data_maps *maps);

/* Takes any record; most change nothing. In order of time. Fails with CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_data_maps_record(struct ctx_data_maps *maps,
						    const struct ctx_perf_record *record,
						    struct ctx_err *err);

/*
 * *ret: the name of the map that holds an address, "[heap]", "//anon", a path; "[kernel]" of its addresses; NULL unknown. Borrowed
 * until deinit. O(log maps). Fails with CTX_E_NOMEM.
 */
CTX_MUST_CHECK enum ctx_status ctx_data_maps_find(struct ctx_data_maps *maps, int64_t pid, uint64_t address,
						  const char **ret, struct ctx_err *err);

#endif
