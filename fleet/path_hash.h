/*
 * Names of functions, call stacks and recordings that are the same in every recording and on every machine.
 *
 *	function key    64 bits of (object, name, linkage name, inlined, kinds)
 *	stack hash     128 bits of (hash of the caller's stack, key of the function); the empty stack is 0
 *	recording id   128 bits of what was recorded: host, time, processes, threads, sums of the metrics
 *
 * Two functions of one object with the same names are one function in a fleet: offsets differ from build to build. Ten million
 * functions collide in 64 bits with a chance of 3 in a million, 10^12 stacks in 128 bits with 2 in 10^15.
 *
 * An id says nothing about the ingest: a recording that was ingested twice, with other symbols, is one recording.
 */
#ifndef CTX_FLEET_PATH_HASH_H
#define CTX_FLEET_PATH_HASH_H

#include "base/cursor.h"
#include "model/profile.h"

#define CTX_PATH_HASH_BYTES 16u

struct ctx_path_hash { /* in rows 16 bytes: low, then high, little-endian */
	uint64_t low, high;
};

/* Of a row. */
static inline struct ctx_path_hash ctx_path_take(struct ctx_cursor *cursor)
{
	struct ctx_path_hash hash;

	hash.low = ctx_cursor_get_u64(cursor);
	hash.high = ctx_cursor_get_u64(cursor);
	return hash;
}

/* Of the stack that calls `function` from the stack `caller`. */
struct ctx_path_hash ctx_path_extend(struct ctx_path_hash caller, uint64_t function);

/* CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_path_recording(const struct ctx_profile *profile,
						  struct ctx_path_hash *ret, struct ctx_err *err);

/* Of metrics and groups of threads; a number of 32 bits. */
uint32_t ctx_path_metric(const struct ctx_metric_info *metric);
uint32_t ctx_path_thread(const char *group);

/* CLOCK_REALTIME at the recording's time 0, of the property "start_unix_ns"; 0: unknown. */
uint64_t ctx_path_start_ns(const struct ctx_profile *profile);

/* All of a profile. Owned by the caller (ctx_path_hashes_deinit). */
struct ctx_path_hashes {
	uint64_t *functions;	      /* by function id */
	struct ctx_path_hash *stacks; /* by CCT node */
};

/* O(functions + stacks). CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_path_hashes_make(const struct ctx_profile *profile,
						    struct ctx_path_hashes *ret, struct ctx_err *err);
void ctx_path_hashes_deinit(struct ctx_path_hashes *hashes);

#endif
