/*
 * What the parts of a push share: what is to be pushed, and how far it is.
 */
#ifndef CTX_FLEET_PUSH_PARTS_H
#define CTX_FLEET_PUSH_PARTS_H

#include "fleet/fleet_server.h"
#include "fleet/path_hash.h"
#include "model/report_source.h"

#define CTX_PUSH_BYTES ((size_t)32 << 20) /* of one insert, about */

struct ctx_push_label {
	const char *key, *value;
};

struct ctx_push_spec { /* borrowed */
	const struct ctx_fleet_server *server;
	struct ctx_report_source *source;    /* all of a recording: no interval, no threads, no filters */
	const struct ctx_push_label *labels; /* beside those of the recording; no key twice */
	size_t n_labels;
	/* A number that no other push has: the second (since 1970) in its upper half, a random number in the other. */
	uint64_t push;
};

struct ctx_push_result {
	struct ctx_path_hash recording;
	bool was_there; /* nothing was written */
	uint64_t samples, cells, stacks, bytes;
};

struct ctx_push { /* one push; released by ctx_push_manifest_deinit and its own parts */
	const struct ctx_push_spec *spec;
	const struct ctx_profile *profile;
	struct ctx_push_result result;
	struct ctx_path_hashes hashes;
	uint64_t wall_ns; /* time of day at its begin, in ns since 1970 */
	uint16_t day;	  /* of its begin, since 1970 */
	bool *has_cell;	  /* by CCT node */
	struct ctx_buf rows;
	uint64_t
		checksum; /* of all cells: modulo 2^64 the sum of (the low half of the stack's hash XOR (weight + 31 samples)) */
	uint32_t *metrics; /* keys by metric id */
	struct {
		uint32_t *group_of;	 /* by thread */
		uint32_t *keys, *counts; /* by group */
		char **names;		 /* the same; each is owned */
		uint32_t n;
	} threads;
};

#endif
