/*
 * The payload of a block of packed call stacks (kind 10): that of kind 2 in four streams, with each address once,
 * which older recorders wrote beside heap operations.
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

/* Appends the payload of kind 2. CTX_E_FORMAT, CTX_E_NOMEM. */
CTX_MUST_CHECK enum ctx_status ctx_exp_unpack_frames(struct ctx_bytes packed, struct ctx_buf *out,
						     struct ctx_err *err);

#endif
