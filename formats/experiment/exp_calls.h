/*
 * The payload of a block of call stacks by their calls (kind 11): that of kind 2 in seven streams, with each address
 * once, and named by which of those it is that were called from the same caller. Written beside heap operations,
 * which have many stacks; half the size of kind 2 on disk, five sixths of that of kind 10 (exp_packed_frames.h).
 *
 *	varints: first id, bytes of each of the seven streams
 *	ROUTES		of each record: 1 + nodes from the last node, before the record, up to its prefix; 0: elsewhere
 *	PREFIXES	of each 0: difference of the record's first id to the prefix
 *	LENGTHS		of each record: nodes
 *	CALLS		of each node: 2 + i, the i-th of the addresses that followed on its caller's address, the last
 *			one first; 1: another known one; 0: a new one
 *	OTHERS		of each 1: number of the address in this block, from 1 on
 *	NEAR		of each 0 whose caller's address has followers: zigzag, difference to the first of them
 *	NEW		of each other 0: zigzag, difference to the new address before
 *
 * A caller that is in another block has no address here: all of these count as one.
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_CALLS_H
#define CTX_FORMATS_EXPERIMENT_EXP_CALLS_H

#include "base/buf.h"

#define CTX_EXP_CALLS_STREAMS 7u

/* Appends the packed form of a payload of kind 2, and where its parts end. CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_pack_calls(struct ctx_bytes payload, struct ctx_buf *out,
						  size_t ret_ends[CTX_EXP_CALLS_STREAMS + 1],
						  struct ctx_err *err);

/* Appends the payload of kind 2. CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_unpack_calls(struct ctx_bytes packed, struct ctx_buf *out,
						    struct ctx_err *err);

#endif
