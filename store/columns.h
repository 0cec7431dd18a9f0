/*
 * What all blocks consist of: columns of numbers one after the other, packed into a payload. The picture is in block_codec.h.
 */
#ifndef CTX_STORE_COLUMNS_H
#define CTX_STORE_COLUMNS_H

#include "base/cursor.h"
#include "store/block_codec.h"

#define COLUMN_VARINT_MAX 10 /* bytes of a number */

/* Appends a column of `n` values. That they change `changes` times, from one to the next, may be known already. */
void column_put(struct ctx_buf *out, const uint64_t *values, size_t n);
void column_put_changing(struct ctx_buf *out, const uint64_t *values, size_t n, size_t changes);

/* Reads one. CTX_E_FORMAT. */
CTX_MUST_CHECK enum ctx_status column_get(struct ctx_cursor *cursor, uint64_t *values, size_t n,
					  struct ctx_err *err);
CTX_MUST_CHECK enum ctx_status column_fits_32_bits(const uint64_t *values, size_t n, struct ctx_err *err);

/* Nothing is left behind the last column. */
CTX_MUST_CHECK enum ctx_status columns_end(const struct ctx_cursor *cursor, struct ctx_err *err);

/* codec->columns becomes codec->payload. */
CTX_MUST_CHECK enum ctx_status columns_pack(struct ctx_block_codec *codec, struct ctx_err *err);

/* A cursor over the columns of a payload; compressed ones must not be longer than `max_bytes`. */
CTX_MUST_CHECK enum ctx_status columns_unpack(struct ctx_block_codec *codec, const void *payload,
					      size_t size_bytes, size_t max_bytes, struct ctx_cursor *ret,
					      struct ctx_err *err);

#endif
