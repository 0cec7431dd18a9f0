/*
 * The payload of a block of packed call stacks (kind 10): that of kind 2 in four streams, with each address once.
 * Half the size on disk where there are many stacks; written beside heap operations, which have many.
 *
 *	varints: first id, bytes of each of the four streams
 *	PARENTS		of each record: difference of its first id to the prefix
 *	LENGTHS		of each record: nodes
 *	OLD_ADDRESSES	of each node: number of its address in this block, from 1 on; 0: the next new one
 *	NEW_ADDRESSES	zigzag: difference to the new one before
 */
#ifndef CTX_FORMATS_EXPERIMENT_EXP_PACKED_FRAMES_H
#define CTX_FORMATS_EXPERIMENT_EXP_PACKED_FRAMES_H

#include "base/buf.h"

#define CTX_EXP_FRAMES_STREAMS 4u

/* Appends the packed form of a payload of kind 2, and where its parts end. CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_pack_frames(struct ctx_bytes payload, struct ctx_buf *out,
						   size_t ret_ends[CTX_EXP_FRAMES_STREAMS + 1],
						   struct ctx_err *err);

/* Appends the payload of kind 2. CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_unpack_frames(struct ctx_bytes packed, struct ctx_buf *out,
						     struct ctx_err *err);

#endif
