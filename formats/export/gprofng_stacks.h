/*
 * The call stacks of a selection as addresses, as gprofng's format requires.
 *
 *	node	a stack: a raw stack, or, where a sample has none, a node of the CCT (numbered after the raw stacks)
 *	place	a frame: a location, or, in such a node, a function (numbered after the locations)
 *	pair	a node in a process: what a sample refers to
 */
#ifndef CTX_FORMATS_EXPORT_GPROFNG_STACKS_H
#define CTX_FORMATS_EXPORT_GPROFNG_STACKS_H

#include "base/map64.h"
#include "model/export.h"

enum ctx_gpx_frame_kind {
	CTX_GPX_FRAME_NONE = 0, /* not code: markers of a joined stack, inlined functions */
	CTX_GPX_FRAME_CODE,	/* `address` in `object` */
	CTX_GPX_FRAME_ABSOLUTE, /* `address` in no object */
	CTX_GPX_FRAME_DEPTH,	/* <Truncated-stack: too deep>, gprofng's truncated stacks */
	CTX_GPX_FRAME_UNWIND,	/* <Truncated-stack>, as gprofng's <Stack-unwind-failed> */
};

/*
 * Objects after those of the profile: one for the reasons why stacks end, by reason, and one for
 * all other functions that are not code, by function. gprofng shows them by name.
 */
enum { CTX_GPX_TRUNCATIONS, CTX_GPX_MARKS, CTX_GPX_OBJECTS_MORE };

struct ctx_gpx_frame {
	enum ctx_gpx_frame_kind kind;
	uint32_t object;   /* of the profile, or one of the additional ones */
	uint32_t function; /* the function that contains the address, never an inlined one */
	uint64_t address;
};

struct ctx_gpx_pair {
	uint32_t process, node;
	bool begun;	 /* a packet was written */
	int64_t owed_ns; /* weight not yet in packets, which count in microseconds */
};

struct ctx_gpx_use { /* of a process */
	uint64_t samples;
	uint64_t first_ns, last_ns;
	size_t first_pair, n_pairs;
};

struct ctx_gpx_stacks {
	const struct ctx_export_input *input;
	const struct ctx_code *code; /* of the source */
	uint32_t n_raw, n_nodes;
	uint32_t n_locations, n_places;
	bool *used;		    /* owned; by place */
	struct ctx_gpx_pair *pairs; /* owned; by process, then node */
	size_t n_pairs, pairs_cap;
	struct ctx_map64 pair_of;
	struct ctx_gpx_use *uses; /* owned; by process */
	uint64_t divisor_ns;	  /* of all weights; 0 without samples */
	uint64_t samples, heaviest;
};

/*
 * Reads all samples once. O(samples + nodes); 1 byte a place, some 40 a pair. CTX_E_FORMAT: unknown
 * ids. Release in any case.
 */
CTX_MUST_CHECK enum ctx_status ctx_gpx_stacks_init(struct ctx_gpx_stacks *stacks,
						   const struct ctx_export_input *input, struct ctx_err *err);
void ctx_gpx_stacks_deinit(struct ctx_gpx_stacks *stacks);

/* The node of a sample; 0: it has no stack. The sample's ids were checked by init. */
static inline uint32_t ctx_gpx_node(const struct ctx_gpx_stacks *stacks, const struct ctx_sample *sample)
{
	if (sample->raw_stack != 0 || sample->stack == 0)
		return sample->raw_stack;
	return stacks->n_raw + sample->stack;
}

/* The stack without its leaf; 0: empty. */
uint32_t ctx_gpx_parent(const struct ctx_gpx_stacks *stacks, uint32_t node);
uint32_t ctx_gpx_depth(const struct ctx_gpx_stacks *stacks, uint32_t node);

/* The place of the leaf. */
uint32_t ctx_gpx_place(const struct ctx_gpx_stacks *stacks, uint32_t node);

/* The description of a place. */
struct ctx_gpx_frame ctx_gpx_frame(const struct ctx_gpx_stacks *stacks, uint32_t place);

/* The pair of a sample's node; it must have been seen by init. */
struct ctx_gpx_pair *ctx_gpx_pair(const struct ctx_gpx_stacks *stacks, uint32_t process, uint32_t node);

#endif
